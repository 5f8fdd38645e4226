import type { Edit } from '../domain/history/edit.ts'
import type { Pull, PullFile } from '../domain/history/pull.ts'
import {
  deploymentsOf,
  type IncomingDelivery,
  labelsOf,
  outcomeOf,
  pullReportsOf,
  pushesTo,
  type Retry,
} from './incoming-deliveries.ts'
import type { PromptPaths } from './prompt-paths.ts'
import type { PullFindings } from './pulls.ts'
import { recordPushers } from './pushers.ts'
import type { RecordedCommits } from './record-commits.ts'
import { entryChangesFor, type SyncRun } from './sync-run.ts'

/** Stores the pull requests, the entries that follow from them, and the outcome of each delivery in one transaction. */
export async function recordFindings(run: SyncRun, found: PullFindings, commits: RecordedCommits): Promise<void> {
  const { context, lease, deliveries, now } = run
  const { facts } = context.store
  await recordPushers(run, commits.newPushers)
  await assignOtherPulls(run, found, commits)
  const pulls = await changedPulls(run, found, commits)
  const edits = await affectedEdits(run, pulls)
  const webUrl = deliveries.findLast(({ report }) => report?.webUrl)?.report?.webUrl
  await facts.apply(lease, {
    defaultBranch: run.branch,
    tip: run.tip,
    incomplete: commits.incomplete,
    unreadPullsBelow: commits.unreadPullsBelow,
    ...(webUrl ? { webUrl } : {}),
    edits,
    pulls,
    pushes: pushesTo(run.branch, deliveries),
    deployments: deploymentsOf(lease.repository, deliveries),
    labels: labelsOf(deliveries),
    entries: await entryChangesFor(run, edits, pulls),
    deliveries: deliveries.map((delivery) =>
      outcomeOf(delivery, retryOf(delivery, found), now, noteOf(delivery, found)),
    ),
  })
}

async function changedPulls(
  run: SyncRun,
  { pulls, changed }: PullFindings,
  { promptAt }: RecordedCommits,
): Promise<Pull[]> {
  const all = [...pulls.values()]
  const withNewPrompts = await assignPrompts(run, all, promptAt)
  return all
    .filter(({ number }) => changed.has(number) || withNewPrompts.has(number))
    .map((pull) => withNewPrompts.get(pull.number) ?? pull)
}

/**
 * Assigns the prompts that now exist to the files of all other pull requests. A pull request that added a file may be
 * settled before the file becomes a prompt. Each batch has a transaction of its own, before the deliveries are finished.
 */
async function assignOtherPulls(run: SyncRun, found: PullFindings, commits: RecordedCommits): Promise<void> {
  const { facts } = run.context.store
  for await (const batch of facts.unassignedPulls(run.lease.repository, commits.addedPaths.length > 0)) {
    const others = batch.filter(({ number }) => !found.pulls.has(number))
    const pulls = [...(await assignPrompts(run, others, commits.promptAt)).values()]
    if (pulls.length === 0) continue
    await facts.apply(run.lease, { pulls, entries: await entryChangesFor(run, [], pulls) })
  }
}

/** The stored edits with new information: their pull request, or the end of their wait. */
async function affectedEdits({ context, lease, now }: SyncRun, pulls: Pull[]): Promise<Edit[]> {
  const pullOf = new Map(pulls.flatMap(({ number, landed }) => landed.map((sha) => [sha, number])))
  const numbers = new Set(pulls.map(({ number }) => number))
  const edits = await context.store.facts.edits(lease.repository, {
    commits: [...pullOf.keys()],
    pulls: [...numbers],
    heldUntil: now,
  })
  return edits.map((edit) => {
    const pull = pullOf.get(edit.commitSha) ?? (edit.pull !== null && numbers.has(edit.pull) ? null : edit.pull)
    const isReleased = pull !== null || (edit.heldUntil !== null && edit.heldUntil <= now)
    return { ...edit, pull, heldUntil: isReleased ? null : edit.heldUntil }
  })
}

function retryOf(delivery: IncomingDelivery, { retries }: PullFindings): Retry | null {
  const numbers = new Set(pullReportsOf(delivery).map(({ number }) => number))
  return [...retries].findLast(([number]) => numbers.has(number))?.[1] ?? null
}

/** Says that the newest head of a reported pull request is too large. */
function noteOf(delivery: IncomingDelivery, { pulls }: PullFindings): string | null {
  const tooLarge = pullReportsOf(delivery).find(({ number, event }) =>
    pulls.get(number)?.heads.some((head) => head.sha.startsWith(event.head) && head.tooLarge),
  )
  if (tooLarge === undefined) return null
  return `pull request ${tooLarge.number} is too large: only some of the files that it changes are recorded`
}

/** Assigns prompts to the files of pull requests. Returns the pull requests that changed; files that have not landed wait. */
async function assignPrompts(
  { context, lease }: SyncRun,
  pulls: Pull[],
  promptAt: PromptPaths['promptAt'],
): Promise<Map<number, Pull>> {
  const unassigned = pulls.flatMap(filesOf).filter(({ promptId }) => promptId === null)
  const gone = new Set(unassigned.map(startingPath).filter((path) => promptAt(path) === undefined))
  const former = await context.store.facts.formerPaths(lease.repository, [...gone])
  const promptOf = (file: PullFile) => {
    const path = startingPath(file)
    return file.promptId ?? promptAt(path) ?? former.get(path) ?? null
  }
  const changed = pulls.filter((pull) => filesOf(pull).some((file) => file.promptId !== promptOf(file)))
  return new Map(
    changed.map((pull) => {
      const heads = pull.heads.map((head) => ({
        ...head,
        files: head.files.map((file) => ({ ...file, promptId: promptOf(file) })),
      }))
      return [pull.number, { ...pull, heads }]
    }),
  )
}

function filesOf({ heads }: Pull): PullFile[] {
  return heads.flatMap(({ files }) => files)
}

/** The file's path at the base of the pull request. */
function startingPath({ oldPath, path }: PullFile): string {
  return oldPath ?? path
}
