import type { Edit } from '../domain/history/edit.ts'
import type { Pull } from '../domain/history/pull.ts'
import { isDue, type Lease } from '../domain/repositories/repository.ts'
import type { Instant } from '../domain/time.ts'
import { removeMirror, tidy } from '../git/mirror.ts'
import { GitError } from '../git/run.ts'
import { type Arrival, concerns, outcomeOf, pushesTo, readArrivals } from './arrivals.ts'
import { fetchDefaultBranch } from './fetch.ts'
import { learnPulls, type Pulls, withPrompts } from './pulls.ts'
import { startOfWalk } from './rewrite.ts'
import { mirrorOf, type SyncContext } from './sync-context.ts'
import { changesTo, logOptions, type OnCommits, type SyncRun } from './sync-run.ts'
import { type Walked, walk } from './walk.ts'

const hour = 3_600_000
const batch = 100

export interface Synced {
  /** When there is something to do next. */
  dueAt: Instant
  /** There are deliveries left to work on right now. */
  more: boolean
}

/**
 * One piece of work on a repository: fetch, take in what deliveries told about pull requests, read what is new on the default
 * branch, derive the entries of whatever was touched. The same for a delivery, for the first time and for the hourly look.
 */
export async function sync(follow: SyncContext, lease: Lease, onCommits: OnCommits = () => {}): Promise<Synced> {
  const { store, clock } = follow
  const { repository } = lease
  const look = isDue(repository, clock())
  const arrivals = readArrivals(repository, await store.deliveries.pending(repository, clock(), batch))
  try {
    if (look || arrivals.some((arrival) => concerns(arrival, repository))) {
      await syncArrivals(follow, lease, arrivals, look, onCommits)
    } else {
      await store.facts.apply(lease, { deliveries: arrivals.map((arrival) => outcomeOf(arrival, clock())) })
    }
  } catch (error) {
    await noteFailure(follow, lease, arrivals, error as Error)
    throw error
  }
  const held = await store.facts.nextHeld(repository)
  const nextLook = look ? clock() + hour : repository.dueAt
  const next = await store.deliveries.nextAttempt(repository)
  return { dueAt: Math.min(nextLook, held ?? nextLook), more: next !== null && next <= clock() }
}

async function syncArrivals(
  follow: SyncContext,
  lease: Lease,
  arrivals: Arrival[],
  look: boolean,
  onCommits: OnCommits,
): Promise<void> {
  const { store, clock, log } = follow
  const { repository } = lease
  const mirror = mirrorOf(follow, repository)
  const { branch, tip } = await fetchDefaultBranch(mirror, repository, arrivals, look)
  const now = clock()
  if (tip === null) {
    if (repository.tip !== null) throw new Error('the repository has no default branch any more')
    const deliveries = arrivals.map((arrival) => outcomeOf(arrival, now))
    await store.facts.apply(lease, { defaultBranch: branch, deliveries })
    return
  }
  const work: SyncRun = { follow, lease, mirror, branch, tip, arrivals, options: logOptions(repository), now }
  const start = await startOfWalk(work)
  const pulls = await learnPulls(work)
  const walked = await walk(work, start, pulls, onCommits)
  await finish(work, pulls, walked)
  // What is lying about does no harm: the next look will do.
  if (look)
    await tidy(mirror).catch((error) => log.warn({ err: error, repository: repository.id }, 'could not tidy up'))
}

/** Stores what is known of the pull requests, what follows from that, and that the deliveries are done with. */
async function finish(work: SyncRun, { all, touched }: Pulls, { paths, added }: Walked): Promise<void> {
  const { follow, lease, arrivals, now } = work
  const { facts } = follow.store
  // A pull request that added a file may be over by the time that its prompt comes to be.
  for (const pull of await facts.pullsTouching(lease.repository, added)) {
    if (!all.has(pull.number)) all.set(pull.number, pull)
  }
  const resolved = await withPrompts(work, [...all.values()], paths)
  const pulls = [...all.values()]
    .filter(({ number }) => touched.has(number) || resolved.has(number))
    .map((pull) => resolved.get(pull.number) ?? pull)
  const edits = await touchedEdits(work, pulls)
  const webUrl = arrivals.findLast(({ report }) => report?.webUrl)?.report?.webUrl
  await facts.apply(lease, {
    defaultBranch: work.branch,
    tip: work.tip,
    ...(webUrl ? { webUrl } : {}),
    edits,
    pulls,
    entries: await changesTo(work, edits, pulls),
    deliveries: arrivals.map((arrival) => outcomeOf(arrival, now)),
  })
}

/** The edits of which something else is known now: which pull request brought them, who pushed them, that the wait is over. */
async function touchedEdits(work: SyncRun, pulls: Pull[]): Promise<Edit[]> {
  const { follow, lease, arrivals, now } = work
  const pushers = new Map(pushesTo(work.branch, arrivals).map(({ after, pusher }) => [after as string, pusher]))
  const pullOf = new Map(pulls.flatMap(({ number, landed }) => landed.map((sha) => [sha, number])))
  const numbers = new Set(pulls.map(({ number }) => number))
  const edits = await follow.store.facts.edits(lease.repository, {
    commits: [...pullOf.keys(), ...pushers.keys()].filter((sha) => sha !== null),
    pulls: [...numbers],
    heldUntil: now,
  })
  return edits.map((edit) => {
    const claimed = pullOf.get(edit.commitSha)
    const pull = claimed ?? (edit.pull !== null && numbers.has(edit.pull) ? null : edit.pull)
    const over = pull !== null || (edit.heldUntil !== null && edit.heldUntil <= now)
    return {
      ...edit,
      pull,
      heldUntil: over ? null : edit.heldUntil,
      actor: edit.actor ?? pushers.get(edit.commitSha) ?? null,
    }
  })
}

async function noteFailure(follow: SyncContext, lease: Lease, arrivals: Arrival[], error: Error): Promise<void> {
  const now = follow.clock()
  for (const arrival of arrivals) if (arrival.report !== null) arrival.problem = error.message
  if (isDamaged(error)) await removeMirror(mirrorOf(follow, lease.repository).path)
  await follow.store.facts
    .apply(lease, { deliveries: arrivals.map((arrival) => outcomeOf(arrival, now)) })
    // The database may be what failed; then they are simply still pending.
    .catch(() => {})
}

/** The mirror is only a copy: one that git cannot read is made anew. */
function isDamaged(error: Error): boolean {
  return (
    error instanceof GitError &&
    /corrupt|bad object|not a git repository|missing (blob|tree|commit)|unable to read|is empty|invalid object/i.test(
      error.stderr,
    )
  )
}
