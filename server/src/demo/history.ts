import { join } from 'node:path'
import { operator } from '../domain/access/audit.ts'
import type { Prompt } from '../domain/prompt.ts'
import type { Instant } from '../domain/time.ts'
import { connectRepository } from '../follow/connect.ts'
import type { SyncContext } from '../follow/sync-context.ts'
import { syncUntilDone, syncWithLease } from '../follow/worker.ts'
import type { DemoPrompt } from './change.ts'
import { deliveryOf } from './deliveries.ts'
import { createRepository } from './repository.ts'

/** Creates the repository, connects it like any other and syncs its history. Returns its prompts. */
export async function createHistory(
  context: SyncContext,
  organisationId: number,
  prompts: DemoPrompt[],
  now: Instant,
): Promise<Prompt[]> {
  const url = join(context.dataDir, 'acme', 'prompts.git')
  const pullSteps = await createRepository(url, prompts, now)
  const connection = {
    organisationId,
    forge: 'github',
    url,
    path: 'prompts/*.md',
    similarity: 100,
    token: null,
    secret: null,
  } as const
  const { lease } = await connectRepository(context, connection, operator)
  const { repository } = lease
  // One after the other, because concurrent calls would not keep the order.
  for (const step of pullSteps) await context.store.deliveries.receive(repository, deliveryOf(step))
  const { more } = await syncWithLease(context, lease)
  if (more) await syncUntilDone(context, repository.id)
  return context.store.facts.prompts(repository)
}
