import type { Edit } from '../domain/history/edit.ts'
import { closestPusher, type Push, type Pusher } from '../domain/history/push.ts'
import type { Instant } from '../domain/time.ts'
import { fetchCommit, firstParentsSince, newestShas, resolveCommit } from '../git/mirror.ts'
import { pushesTo } from './incoming-deliveries.ts'
import { entryChangesFor, type SyncRun } from './sync-run.ts'

/** The pusher of a commit, and when the push was reported. */
export interface ReportedPusher extends Pusher {
  receivedAt: Instant
}

// Older commits of a larger push have no pusher.
const maxCommitsPerPush = 10_000
const batchSize = 500

/**
 * The pusher of each new commit on the default branch, as far as deliveries reported it. A push can have been reported before
 * git had its commits.
 */
export async function findPushers(run: SyncRun, from: string | null): Promise<Map<string, ReportedPusher>> {
  const { context, lease, mirror, tip } = run
  const added = await newestShas(mirror.path, tip, from, maxCommitsPerPush)
  const known = await context.store.facts.pushes(lease.repository, added)
  const isNew = new Set(added)
  const pushers = new Map<string, ReportedPusher>()
  for (const push of [...known, ...pushesTo(run.branch, run.deliveries)]) {
    for (const { sha, pusher } of await pushedCommits(run, push)) {
      const closest = closestPusher(pushers.get(sha) ?? null, pusher)
      if (isNew.has(sha) && closest !== null) pushers.set(sha, closest)
    }
  }
  return pushers
}

/** Stores the pushers of commits that were recorded before their push was reported. Each batch has a transaction of its own. */
export async function recordPushers(run: SyncRun): Promise<void> {
  const { facts } = run.context.store
  for (const push of pushesTo(run.branch, run.deliveries)) {
    const commits = await pushedCommits(run, push)
    for (let start = 0; start < commits.length; start += batchSize) {
      const pushers = new Map(commits.slice(start, start + batchSize).map(({ sha, pusher }) => [sha, pusher]))
      const known = await facts.edits(run.lease.repository, { commits: [...pushers.keys()] })
      const edits = known.flatMap((edit) => withPusher(edit, pushers.get(edit.commitSha) ?? null))
      if (edits.length > 0) await facts.apply(run.lease, { edits, entries: await entryChangesFor(run, edits, []) })
    }
  }
}

const maxPushDistance = 1_000

/** The commit of the default branch before the push that brought the commit there; null if no delivery reported it. */
export async function findPushedFrom(run: SyncRun, commit: string): Promise<string | null> {
  const later = (await firstParentsSince(run.mirror.path, commit, run.tip)).slice(-maxPushDistance)
  const known = await run.context.store.facts.pushes(run.lease.repository, [...later, commit])
  const pushes = [...known, ...pushesTo(run.branch, run.deliveries)]
  for (const after of [commit, ...later.reverse()]) {
    const starts = pushes.flatMap((push) => (push.after === after && push.before !== null ? [push.before] : []))
    // After a forced push, several can end with the same commit. Sorted, so that their order does not matter.
    if (starts.length > 0) return starts.sort()[0] as string
  }
  return null
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

/** The commits that the push brought, newest first; empty if git does not have them (yet). */
async function pushedCommits({ mirror }: SyncRun, push: Push): Promise<PushedCommit[]> {
  const { pusher: name, receivedAt } = push
  if (name === null || (await resolveCommit(mirror.path, push.after)) === null) return []
  // A forced push can have removed the commit before it from the branch.
  const before = push.before === null ? null : await fetchCommit(mirror, push.before, [])
  const isUnknown = push.before !== null && before === null
  const shas = isUnknown ? [push.after] : await newestShas(mirror.path, push.after, before, maxCommitsPerPush)
  // If only the newest commit is known to be part of the push, any other push that contains it tells more.
  const pushSize = isUnknown ? maxCommitsPerPush : shas.length
  return shas.map((sha) => ({ sha, pusher: { name, pushSize, receivedAt } }))
}
