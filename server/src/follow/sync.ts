import { isDue, type Lease } from '../domain/repositories/lease.ts'
import type { Instant } from '../domain/time.ts'
import { forgeOf } from '../forges/index.ts'
import { cleanUpMirror, isDamagedMirror, removeMirror } from '../git/mirror.ts'
import { lazyPullRefs } from '../git/pull-refs.ts'
import { InterruptedError } from '../git/run.ts'
import { fetchDefaultBranch } from './fetch.ts'
import { checkHiddenCharacters } from './hidden-characters.ts'
import {
  affectsHistory,
  deploymentsOf,
  type IncomingDelivery,
  labelsOf,
  outcomeOf,
  parseDeliveries,
  type Retry,
  takeDeliveries,
} from './incoming-deliveries.ts'
import { readUnreadPulls } from './landed-pulls.ts'
import { locateCommits } from './locate-commits.ts'
import { alignDefaultBranch } from './mainline.ts'
import { maxPullsPerSync, readPulls } from './pulls.ts'
import { type OnCommits, type RecordedCommits, recordCommits } from './record-commits.ts'
import { recordFindings } from './record-findings.ts'
import { findResumePoint } from './resume-point.ts'
import { mirrorOf, type SyncContext } from './sync-context.ts'
import { lazyPlaces, logOptions, type SyncRun } from './sync-run.ts'

const repositoryPollIntervalMs = 3_600_000
const maxDeliveriesPerSync = 100

export interface Synced {
  /** When the repository needs its next sync. */
  dueAt: Instant
  /** More deliveries are ready to be processed. */
  more: boolean
  /** Whether the sync fetched from the server. Deliveries that do not affect history need no fetch. */
  fetched: boolean
}

/**
 * Syncs a repository once: fetches it, processes pending deliveries, reads new commits of the default branch and derives
 * the affected entries. Deliveries, the backfill and the hourly poll all use this one path.
 */
export async function sync(context: SyncContext, lease: Lease, onCommits: OnCommits = () => {}): Promise<Synced> {
  const { store, clock } = context
  const { repository } = lease
  const isPoll = isDue(repository, clock())
  const pending = await store.deliveries.pending(repository, clock(), maxDeliveriesPerSync)
  const { deliveries: parsed, forgeId } = parseDeliveries(repository, pending)
  const deliveries = takeDeliveries(parsed, maxPullsPerSync)
  const fetched = isPoll || deliveries.some((delivery) => affectsHistory(delivery, repository))
  let morePulls = false
  try {
    if (forgeId !== null) await store.facts.apply(lease, { forgeId })
    if (fetched) {
      morePulls = await syncWithGit(context, lease, deliveries, isPoll, onCommits)
    } else {
      await store.facts.apply(lease, {
        deployments: deploymentsOf(repository, deliveries),
        labels: labelsOf(deliveries),
        deliveries: deliveries.map((delivery) => outcomeOf(delivery, null, clock())),
      })
    }
  } catch (error) {
    if (!(error instanceof InterruptedError)) await recordFailure(context, lease, deliveries, error as Error)
    throw error
  }
  const checkedAll = await checkHiddenCharacters(context, repository)
  const nextHeld = await store.facts.nextHeld(repository)
  const nextPoll = isPoll ? clock() + repositoryPollIntervalMs : repository.dueAt
  const nextAttempt = await store.deliveries.nextAttempt(repository)
  const dueAt = checkedAll && !morePulls ? Math.min(nextPoll, nextHeld ?? nextPoll) : clock()
  return { dueAt, more: nextAttempt !== null && nextAttempt <= clock(), fetched }
}

/** Returns true if more pull requests have to be read than one sync does. */
async function syncWithGit(
  context: SyncContext,
  lease: Lease,
  deliveries: IncomingDelivery[],
  isPoll: boolean,
  onCommits: OnCommits,
): Promise<boolean> {
  const { store, clock, log } = context
  const { repository } = lease
  const mirror = mirrorOf(context, repository)
  const { branch, tip, pulls } = await fetchDefaultBranch(mirror, repository, deliveries, isPoll)
  const now = clock()
  if (tip === null) {
    if (repository.tip !== null) throw new Error('the default branch of the repository no longer exists')
    const outcomes = deliveries.map((delivery) => outcomeOf(delivery, null, now))
    await store.facts.apply(lease, {
      defaultBranch: branch,
      deployments: deploymentsOf(repository, deliveries),
      labels: labelsOf(deliveries),
      deliveries: outcomes,
    })
    return false
  }
  const options = logOptions(repository)
  const pullRefs = lazyPullRefs(mirror.remote, forgeOf(repository.forge).pullRefPattern, pulls)
  const places = lazyPlaces(repository)
  const added = await alignDefaultBranch({ mirror, tip, branch, pullRefs, places }, repository)
  const reading = { branch, tip, options, pullRefs, places, added }
  const run: SyncRun = { context, lease, mirror, deliveries, isPoll, now, ...reading }
  const start = await findResumePoint(run)
  const found = await readPulls(run, start.paths)
  const commits = await recordCommits(run, start, found, onCommits)
  await recordFindings(run, found, commits)
  const hasUnreadPulls = await continueReading(run, commits)
  // What the sync found is stored. The next one looks for the commits again.
  await locateCommits(run).catch((error) =>
    log.warn({ err: error, repository: repository.id }, 'could not locate deployed commits'),
  )
  if (!isPoll) return found.more || hasUnreadPulls
  // A failed cleanup can wait for the next poll.
  await cleanUpMirror(mirror).catch((error) =>
    log.warn({ err: error, repository: repository.id }, 'could not clean up the mirror'),
  )
  return found.more || hasUnreadPulls
}

/** Returns true if the next sync has to continue. */
async function continueReading(run: SyncRun, { unreadPullsBelow: below }: RecordedCommits): Promise<boolean> {
  // What this sync left itself is for the next one.
  if (below === null || run.lease.repository.unreadPullsBelow === null) return below !== null
  return (await readUnreadPulls(run, below)) !== null
}

async function recordFailure(
  context: SyncContext,
  lease: Lease,
  deliveries: IncomingDelivery[],
  error: Error,
): Promise<void> {
  const now = context.clock()
  if (isDamagedMirror(error)) await removeMirror(mirrorOf(context, lease.repository).path)
  const retry: Retry = { reason: error.message, isMissingCommit: false }
  await context.store.facts
    .apply(lease, { deliveries: deliveries.map((delivery) => outcomeOf(delivery, retry, now)) })
    // If the database failed, the deliveries simply stay pending.
    .catch(() => {})
}
