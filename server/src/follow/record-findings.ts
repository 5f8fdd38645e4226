import type { Edit } from '../domain/history/edit.ts'
import type { Pull } from '../domain/history/pull.ts'
import { type IncomingDelivery, outcomeOf, pullReportsOf, pushesTo, type Retry } from './incoming-deliveries.ts'
import { assignPrompts } from './pull-prompts.ts'
import type { PullFindings } from './pulls.ts'
import type { RecordedCommits } from './record-commits.ts'
import { entryChangesFor, type SyncRun } from './sync-run.ts'

/** Stores the pull requests, the entries that follow from them, and the outcome of each delivery in one transaction. */
export async function recordFindings(run: SyncRun, found: PullFindings, commits: RecordedCommits): Promise<void> {
  const { context, lease, deliveries, now } = run
  const { facts } = context.store
  const pulls = await changedPulls(run, found, commits)
  const edits = await affectedEdits(run, pulls)
  const webUrl = deliveries.findLast(({ report }) => report?.webUrl)?.report?.webUrl
  await facts.apply(lease, {
    defaultBranch: run.branch,
    tip: run.tip,
    ...(webUrl ? { webUrl } : {}),
    edits,
    pulls,
    entries: await entryChangesFor(run, edits, pulls),
    deliveries: deliveries.map((delivery) => outcomeOf(delivery, retryOf(delivery, found), now)),
  })
}

async function changedPulls(
  run: SyncRun,
  { pulls, changed }: PullFindings,
  { promptAt, addedPaths }: RecordedCommits,
): Promise<Pull[]> {
  // A pull request that added a file may be settled before the file becomes a prompt.
  const touching = await run.context.store.facts.pullsTouching(run.lease.repository, addedPaths)
  const all = [...pulls.values(), ...touching.filter(({ number }) => !pulls.has(number))]
  const withNewPrompts = await assignPrompts(run, all, promptAt)
  return all
    .filter(({ number }) => changed.has(number) || withNewPrompts.has(number))
    .map((pull) => withNewPrompts.get(pull.number) ?? pull)
}

/** The stored edits with new information: their pull request, their pusher, or the end of their wait. */
async function affectedEdits({ context, lease, branch, deliveries, now }: SyncRun, pulls: Pull[]): Promise<Edit[]> {
  const pushers = new Map(pushesTo(branch, deliveries).map(({ after, pusher }) => [after as string, pusher]))
  const pullOf = new Map(pulls.flatMap(({ number, landed }) => landed.map((sha) => [sha, number])))
  const numbers = new Set(pulls.map(({ number }) => number))
  const edits = await context.store.facts.edits(lease.repository, {
    commits: [...pullOf.keys(), ...pushers.keys()].filter((sha) => sha !== null),
    pulls: [...numbers],
    heldUntil: now,
  })
  return edits.map((edit) => {
    const pull = pullOf.get(edit.commitSha) ?? (edit.pull !== null && numbers.has(edit.pull) ? null : edit.pull)
    const isReleased = pull !== null || (edit.heldUntil !== null && edit.heldUntil <= now)
    return {
      ...edit,
      pull,
      heldUntil: isReleased ? null : edit.heldUntil,
      actor: edit.actor ?? pushers.get(edit.commitSha) ?? null,
    }
  })
}

function retryOf(delivery: IncomingDelivery, { retries }: PullFindings): Retry | null {
  const numbers = new Set(pullReportsOf(delivery).map(({ number }) => number))
  return [...retries].findLast(([number]) => numbers.has(number))?.[1] ?? null
}
