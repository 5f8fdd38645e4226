import { randomUUID } from 'node:crypto'
import { operator } from '../../server/src/domain/access/audit.ts'
import { newPrompt } from '../../server/src/domain/prompt.ts'
import { openStore } from '../../server/src/store/open.ts'
import type { Site } from './attack.ts'

/** Creates a prompt of the attacker with this many signals, and returns its public ID. */
export async function createPromptWithSignals(
  { url, attacker: { organisationId } }: Site,
  count: number,
  metadata: string,
): Promise<string> {
  const store = await openStore({ url, poolSize: 2, clock: Date.now, onLostConnection: () => {} })
  try {
    const createdAt = Date.now()
    const prompt = await store.prompts.create(newPrompt(organisationId, `target ${randomUUID()}`, createdAt), operator)
    const signal = { organisationId, promptId: prompt.id, value: 'positive' as const, metadata, createdAt }
    await store.signals.import(batches(count, signal))
    return prompt.publicId
  } finally {
    await store.close()
  }
}

async function* batches<T>(count: number, signal: T): AsyncGenerator<T[]> {
  for (let left = count; left > 0; left -= 500) yield Array<T>(Math.min(left, 500)).fill(signal)
}
