import { join } from 'node:path'
import { operator } from '../domain/access/audit.ts'
import type { Prompt } from '../domain/prompt.ts'
import type { Instant } from '../domain/time.ts'
import { connectRepository } from '../follow/connect.ts'
import { mirrorOf, type SyncContext } from '../follow/sync-context.ts'
import { syncUntilDone, syncWithLease } from '../follow/worker.ts'
import { ensureMirror, type Mirror } from '../git/mirror.ts'
import { git } from '../git/run.ts'
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
  await fetchPulls(mirrorOf(context, repository), url, pullSteps[0]?.head ?? '')
  // Together, in one transaction. Their IDs keep the order.
  await Promise.all(pullSteps.map((step, i) => context.store.deliveries.receive(repository, deliveryOf(step, i))))
  const { more } = await syncWithLease(context, lease)
  if (more) await syncUntilDone(context, repository.id)
  return context.store.facts.prompts(repository)
}

/** Fetches all pull requests at once. Otherwise the sync would fetch each, which takes most of its time. */
async function fetchPulls(mirror: Mirror, url: string, head: string): Promise<void> {
  await ensureMirror(mirror, head)
  const refs = '+refs/pull/*/head:refs/kept/demo-*'
  await git(['fetch', '--quiet', '--no-tags', '--end-of-options', url, refs], { mirror: mirror.path })
}
