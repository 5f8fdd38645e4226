import type { Edit } from '../domain/edit.ts'
import type { Pull } from '../domain/pull.ts'
import type { Lease, Repository } from '../domain/repository.ts'
import type { Instant } from '../domain/time.ts'
import { removeMirror, tidy } from '../git/mirror.ts'
import { GitError } from '../git/run.ts'
import { type Arrival, concerns, outcomeOf, pushesTo, readArrivals } from './arrivals.ts'
import type { Paths } from './edits.ts'
import { fetchDefaultBranch } from './fetch.ts'
import { type Follow, mirrorOf } from './follow.ts'
import { learnPulls, type Pulls, withPrompts } from './pulls.ts'
import { startOfWalk } from './rewrite.ts'
import { walk } from './walk.ts'
import { changesTo, logOptions, type OnCommits, type Work } from './work.ts'

const hour = 3_600_000
const batch = 100

/**
 * One piece of work on a repository: fetch, take in what deliveries told about pull requests, read what is new on the default
 * branch, derive the entries of whatever was touched. The same for a delivery, for the first time and for the hourly look.
 * Gives the time at which there is something to do next.
 */
export async function sync(follow: Follow, lease: Lease, onCommits: OnCommits = () => {}): Promise<Instant> {
  const { store, clock } = follow
  const { repository } = lease
  const arrivals = readArrivals(repository, await store.deliveries.pending(repository, clock(), batch))
  // Nobody asked for more than that these be looked at, and they tell nothing.
  const idle = arrivals.length > 0 && repository.dueAt > clock() && !arrivals.some((one) => concerns(one, repository))
  try {
    if (idle) await putAside(follow, lease, arrivals)
    else await syncArrivals(follow, lease, arrivals, onCommits)
  } catch (error) {
    await noteFailure(follow, lease, arrivals, error as Error)
    throw error
  }
  if (arrivals.length === batch) return clock()
  return idle ? repository.dueAt : nextWork(follow, repository)
}

async function putAside({ store, clock }: Follow, lease: Lease, arrivals: Arrival[]): Promise<void> {
  await store.facts.apply(lease, { deliveries: arrivals.map((arrival) => outcomeOf(arrival, clock())) })
}

async function syncArrivals(follow: Follow, lease: Lease, arrivals: Arrival[], onCommits: OnCommits): Promise<void> {
  const { store, clock } = follow
  const { repository } = lease
  const mirror = mirrorOf(follow, repository)
  const { branch, tip } = await fetchDefaultBranch(mirror, repository, arrivals)
  const now = clock()
  if (tip === null) {
    const deliveries = arrivals.map((arrival) => outcomeOf(arrival, now))
    await store.facts.apply(lease, { defaultBranch: branch, deliveries })
    return
  }
  if (arrivals.length === 0) await tidy(mirror)
  const work: Work = { follow, lease, mirror, branch, tip, arrivals, options: logOptions(repository), now }
  const start = await startOfWalk(work)
  const pulls = await learnPulls(work)
  const paths = await walk(work, start, pulls, onCommits)
  await finish(work, pulls, paths)
}

/** Stores what is known of the pull requests, what follows from that, and that the deliveries are done with. */
async function finish(work: Work, { all, touched }: Pulls, paths: Paths): Promise<void> {
  const { follow, lease, arrivals, now } = work
  const { facts } = follow.store
  const pulls: Pull[] = []
  for (const [number, pull] of all) {
    const resolved = await withPrompts(work, pull, paths)
    if (touched.has(number) || resolved !== pull) pulls.push(resolved)
  }
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
async function touchedEdits(work: Work, pulls: Pull[]): Promise<Edit[]> {
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

async function noteFailure(follow: Follow, lease: Lease, arrivals: Arrival[], error: Error): Promise<void> {
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

async function nextWork({ store, clock }: Follow, repository: Repository): Promise<Instant> {
  const held = await store.facts.nextHeld(repository)
  return Math.min(held ?? Number.POSITIVE_INFINITY, clock() + hour)
}
