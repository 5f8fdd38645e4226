import type { Edit } from '../domain/history/edit.ts'
import { closestPusher, type Push, type Pusher } from '../domain/history/push.ts'
import { createTurns, type Instant } from '../domain/time.ts'
import { type AddedCommits, readAddedCommits } from '../git/added-commits.ts'
import { fetchCommit, resolveCommit } from '../git/mirror.ts'
import { revisions, revList } from '../git/rev-list.ts'
import { pushesTo } from './incoming-deliveries.ts'
import { entryChangesFor, type SyncRun } from './sync-run.ts'

/** The pusher of a commit, and when the push was reported. */
interface ReportedPusher extends Pusher {
  receivedAt: Instant
}

// Older commits of a larger push have no pusher.
const maxCommitsPerPush = 10_000
const batchSize = 500

export interface NewPushers {
  /** The pusher of each new commit, as far as deliveries reported it. */
  pushers: ReadonlyMap<string, ReportedPusher>
  isNew(sha: string): boolean
}

export const noNewCommits: NewPushers = { pushers: new Map(), isNew: () => false }

/** Finds the pushers of the new commits on the default branch. A push can have been reported before git had its commits. */
export async function findPushers(run: SyncRun, from: string | null): Promise<NewPushers> {
  const { context, lease, mirror, tip } = run
  const added = new Set(run.added?.shas ?? (await newestShas(mirror.path, tip, from)))
  const known = await context.store.facts.pushes(lease.repository, [...added])
  const pushers = await closestPushers(run, [...known, ...pushesTo(run.branch, run.deliveries)], (sha) =>
    added.has(sha),
  )
  return { pushers, isNew: (sha) => added.has(sha) }
}

/** Stores the pushers of commits that were recorded before their push was reported. Each batch has a transaction of its own. */
export async function recordPushers(run: SyncRun, { isNew }: NewPushers): Promise<void> {
  const { facts } = run.context.store
  const pushers = [...(await closestPushers(run, pushesTo(run.branch, run.deliveries), (sha) => !isNew(sha)))]
  for (let start = 0; start < pushers.length; start += batchSize) {
    const batch = new Map(pushers.slice(start, start + batchSize))
    const known = await facts.edits(run.lease.repository, { commits: [...batch.keys()] })
    const edits = known.flatMap((edit) => withPusher(edit, batch.get(edit.commitSha) ?? null))
    if (edits.length > 0) await facts.apply(run.lease, { edits, entries: await entryChangesFor(run, edits, []) })
  }
}

/** The pusher of each of these commits that a push brought. */
async function closestPushers(
  run: SyncRun,
  pushes: Push[],
  isWanted: (sha: string) => boolean,
): Promise<Map<string, ReportedPusher>> {
  const pushers = new Map<string, ReportedPusher>()
  const readPush = createPushReader(run)
  const takeTurns = createTurns()
  for (const push of pushes) {
    await takeTurns()
    for (const { sha, pusher } of await readPush(push)) {
      const closest = isWanted(sha) ? closestPusher(pushers.get(sha) ?? null, pusher) : null
      if (closest !== null) pushers.set(sha, closest)
    }
  }
  return pushers
}

const maxPushDistance = 1_000

/** The commit of the default branch before the push that brought the commit there; null if no delivery reported it. */
export async function findPushedFrom(run: SyncRun, commit: string): Promise<string | null> {
  const later = (await revList(run.mirror.path, ['--first-parent', ...revisions(commit, run.tip)])).slice(
    -maxPushDistance,
  )
  const known = await run.context.store.facts.pushes(run.lease.repository, [...later, commit])
  const pushes = [...known, ...pushesTo(run.branch, run.deliveries)]
  for (const after of [commit, ...later.reverse()]) {
    const starts = pushes.flatMap((push) => (push.after === after && push.before !== null ? [push.before] : []))
    // After a forced push, several can end with the same commit. Sorted, so that their order does not matter.
    if (starts.length > 0) return starts.sort()[0] as string
  }
  return null
}

/** The commits that `tip` contains and `from` does not, newest first. */
function newestShas(mirror: string, tip: string, from: string | null): Promise<string[]> {
  return revList(mirror, ['-n', String(maxCommitsPerPush), ...revisions(from, tip)])
}

/** The edit with the pusher; empty if that changes nothing. */
function withPusher(edit: Edit, pusher: Pusher | null): Edit[] {
  const closest = closestPusher(pusherOf(edit), pusher)
  if (closest === null || (closest.name === edit.actor && closest.pushSize === edit.pushSize)) return []
  return [{ ...edit, actor: closest.name, pushSize: closest.pushSize }]
}

/** Null also for an edit of an earlier version, which does not say how many commits were pushed. */
export function pusherOf({ actor, pushSize }: Pick<Edit, 'actor' | 'pushSize'>): Pusher | null {
  return actor === null || pushSize === null ? null : { name: actor, pushSize }
}

interface PushedCommit {
  sha: string
  pusher: ReportedPusher
}

// Each covers the pushes after it too, unless the default branch was rewritten.
const maxRanges = 4

/** Returns the commits that a push brought, newest first; none if git does not have them (yet). */
function createPushReader({ mirror, tip, added }: SyncRun): (push: Push) => Promise<PushedCommit[]> {
  const ranges: (AddedCommits | null)[] = [added]

  /** Answers from what earlier pushes needed, because a backlog consists of hundreds of pushes. */
  async function shasBetween(before: string, after: string): Promise<string[] | null> {
    for (const range of ranges) {
      const shas = range?.between(before, after) ?? null
      if (shas !== null) return shas
    }
    if (ranges.length > maxRanges) return null
    const range = await readAddedCommits(mirror.path, before, tip)
    ranges.push(range)
    return range?.between(before, after) ?? null
  }

  return async (push) => {
    const { pusher: name, receivedAt } = push
    if (name === null) return []
    const pushed = (shas: string[], pushSize = shas.length) =>
      shas.map((sha) => ({ sha, pusher: { name, pushSize, receivedAt } }))
    const known = push.before === null ? null : await shasBetween(push.before, push.after)
    if (known !== null) return pushed(known)
    if ((await resolveCommit(mirror.path, push.after)) === null) return []
    // A forced push can have removed the commit before it from the branch.
    const before = push.before === null ? null : await fetchCommit(mirror, push.before, [])
    // If only the newest commit is known to be part of the push, any other push that contains it tells more.
    if (push.before !== null && before === null) return pushed([push.after], maxCommitsPerPush)
    return pushed(await newestShas(mirror.path, push.after, before))
  }
}
