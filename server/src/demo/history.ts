import { join } from 'node:path'
import { operator } from '../domain/access/audit.ts'
import type { Prompt } from '../domain/prompt.ts'
import type { NewDelivery } from '../domain/repositories/delivery.ts'
import { type Instant, isoTime } from '../domain/time.ts'
import { connectRepository } from '../follow/connect.ts'
import { mirrorOf, type SyncContext } from '../follow/sync-context.ts'
import { syncUntilDone, syncWithLease } from '../follow/worker.ts'
import { ensureMirror, type Mirror } from '../git/mirror.ts'
import { git } from '../git/run.ts'
import { type DemoPrompt, type Person, reviewerOf } from './change.ts'
import { createRepository, type PullStep } from './repository.ts'

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

const page = 'https://github.com/acme/prompts'
const repository = { id: 1, full_name: 'acme/prompts', html_url: page, default_branch: 'main' }

/** The delivery that GitHub would have sent, with the fields that a sync reads. */
function deliveryOf(
  { kind, at, number, openedAt, branch, change, head, landing }: PullStep,
  place: number,
): NewDelivery {
  const { author, title } = change
  const isClosed = kind !== 'opened'
  const isMerged = landing !== null
  const sender = user(isClosed ? reviewerOf(author) : author)
  const body = {
    action: isClosed ? 'closed' : 'opened',
    number,
    pull_request: {
      number,
      html_url: `${page}/pull/${number}`,
      title,
      state: isClosed ? 'closed' : 'open',
      user: user(author),
      created_at: isoTime(openedAt),
      updated_at: isoTime(at),
      closed_at: isClosed ? isoTime(at) : null,
      merged: isMerged,
      merged_at: isMerged ? isoTime(at) : null,
      merged_by: isMerged ? sender : null,
      merge_commit_sha: landing,
      head: { ref: branch, sha: head, repo: repository },
      base: { ref: 'main', repo: repository },
      commits: 1,
    },
    repository,
    sender,
  }
  // Deliveries that are received together are stored in the order of their IDs.
  const deliveryId = `00000000-0000-4000-8000-${String(place).padStart(12, '0')}`
  return { deliveryId, event: 'pull_request', body: JSON.stringify(body), receivedAt: at }
}

function user({ login }: Person): object {
  return { login, html_url: `https://github.com/${login}` }
}
