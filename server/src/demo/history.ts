import { join } from 'node:path'
import { operator } from '../domain/access/audit.ts'
import type { Prompt } from '../domain/prompt.ts'
import type { Instant } from '../domain/time.ts'
import { connectRepository } from '../follow/connect.ts'
import type { Synced } from '../follow/sync.ts'
import type { SyncContext } from '../follow/sync-context.ts'
import { syncOnce, syncWithLease } from '../follow/worker.ts'
import type { DemoPrompt } from './change.ts'
import { deliveryOf } from './deliveries.ts'
import { makeRepository } from './repository.ts'

/** Makes the repository, connects it as anybody would, and has its history read. Gives its prompts. */
export async function makeHistory(
  follow: SyncContext,
  organisationId: number,
  prompts: DemoPrompt[],
  now: Instant,
): Promise<Prompt[]> {
  const url = join(follow.dataDir, 'acme', 'prompts.git')
  const pullSteps = await makeRepository(url, prompts, now)
  const connection = {
    organisationId,
    forge: 'github',
    url,
    path: 'prompts/*.md',
    similarity: 100,
    token: null,
    secret: null,
  } as const
  const { lease } = await connectRepository(follow, connection, operator)
  const { repository } = lease
  // One by one: those that arrive together are stored in no particular order.
  for (const step of pullSteps) await follow.store.deliveries.receive(repository, deliveryOf(step))
  let synced: Synced | null = await syncWithLease(follow, lease)
  while (synced?.more) synced = await syncOnce(follow, repository.id)
  return follow.store.facts.prompts(repository)
}
