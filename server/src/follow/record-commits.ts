import type { Edit } from '../domain/history/edit.ts'
import type { Pull } from '../domain/history/pull.ts'
import { closestPusher } from '../domain/history/push.ts'
import { promptFromPath } from '../domain/prompt.ts'
import type { Instant } from '../domain/time.ts'
import { forgeOf } from '../forges/index.ts'
import type { Commit } from '../git/commit.ts'
import { readMainline } from '../git/mainline.ts'
import { readShallowBoundary } from '../git/mirror.ts'
import { sideAuthors } from '../git/pull-head.ts'
import { withinLimit } from '../git/run.ts'
import { dropUnknownFiles, editsOf, newPaths, sanitisedPerson } from './edits.ts'
import { createLandedPulls } from './landed-pulls.ts'
import { referenceReader } from './merge-references.ts'
import { type PathMove, type PromptPaths, trackPaths } from './prompt-paths.ts'
import type { PullFindings, UnsettledPulls } from './pulls.ts'
import { findPushers, type NewPushers, noNewCommits, pusherOf } from './pushers.ts'
import type { ResumePoint } from './resume-point.ts'
import { entryChangesFor, keyOf, type SyncRun } from './sync-run.ts'

// Applies to commits and to edits, because one commit can change thousands of files. Larger transactions write the pages of
// the indexes less often, but make other writers wait for longer.
const batchSize = 2_000
// Every edit of a commit is stored with its message.
const maxMessageLengthPerBatch = 4_000_000
// Hashes, names and numbers of an edit.
const rowBytes = 400
// A forge sends a merge and its push as two deliveries. A commit that may be a merge waits this long for the other one.
const mergeWaitMs = 10_000

interface RecordedBatch {
  /** The number of commits recorded so far. */
  commits: number
  /** The date of the newest of them. */
  committedAt: Instant
  /** The newest commit of the default branch. */
  tip: string
}

export type OnCommits = (batch: RecordedBatch) => void | Promise<void>

export interface RecordedCommits {
  promptAt: PromptPaths['promptAt']
  /** The paths that became prompts. */
  addedPaths: string[]
  /** Whether older commits are missing because the remote is shallow. */
  incomplete: boolean
  /** See `Repository`. */
  unreadPullsBelow: number | null
  newPushers: NewPushers
}

interface CommitEdits {
  commit: Commit
  edits: Edit[]
}

/**
 * Reads the default branch from the resume point to its newest commit and records the edits in batches. Each batch stores
 * how far it got, so that an interrupted sync continues from there.
 */
export async function recordCommits(
  run: SyncRun,
  { from, paths: knownPaths }: ResumePoint,
  { pulls, unsettled }: Pick<PullFindings, 'pulls' | 'unsettled'>,
  onCommits: OnCommits,
): Promise<RecordedCommits> {
  const { context, lease, mirror, branch, tip } = run
  const paths = trackPaths(knownPaths)
  const addedPaths: string[] = []
  if (from === tip) {
    const { incomplete, unreadPullsBelow } = lease.repository
    return { promptAt: paths.promptAt, addedPaths, incomplete, unreadPullsBelow, newPushers: noNewCommits }
  }
  const boundary = await readShallowBoundary(mirror.path)
  const newPushers = await findPushers(run, from)
  const pullOf = new Map([...pulls.values()].flatMap(({ number, landed }) => landed.map((sha) => [sha, number])))
  const readReference = referenceReader(lease.repository)
  const landedPulls = createLandedPulls(run, from, unsettled.known)
  let seq = await context.store.facts.lastSeq(lease.repository)
  let batch: CommitEdits[] = []
  let size = 0
  let messageLength = 0
  let recorded = 0
  let { historyBytes } = lease.repository

  async function flush(): Promise<void> {
    // In one transaction for all commits of the batch: a transaction of its own for each would take longer than all else.
    const idOf = paths.settle(await addPrompts(run, paths.newPaths()))
    if (batch.length === 0) return
    for (const { edits } of batch) for (const edit of edits) edit.promptId = idOf(edit.promptId)
    const allPulls = new Map([...landedPulls.takeRebased(), ...pulls])
    const found = { pulls: allPulls, moves: paths.takeMoves(), incomplete: boundary.size > 0, historyBytes }
    historyBytes = await storeBatch(run, batch, found)
    recorded += batch.length
    const committedAt = (batch.at(-1) as CommitEdits).commit.committedAt
    batch = []
    size = 0
    messageLength = 0
    await onCommits({ commits: recorded, committedAt, tip })
  }

  const options = { ...run.options, isKnown: (path: string) => paths.promptAt(path) !== undefined }
  for await (const read of readMainline(mirror.path, { from, to: tip }, options, run.added)) {
    const commit = dropUnknownFiles(read, paths)
    const added = newPaths(commit, paths)
    if (added.length > 0) {
      // A path that a prompt just left must be free in the store before another prompt takes it.
      if (paths.hasLeft(added)) await flush()
      paths.addNew(added)
      addedPaths.push(...added)
    }
    // In the oldest commit of a shallow repository every file looks new, so its real changes are unknown.
    if (boundary.has(commit.sha)) continue
    const reported = pullOf.get(commit.sha) ?? null
    const isNamed = reported !== null && readReference(commit)?.number === reported
    const { pull, mergeReference } =
      reported === null ? await landedPulls.of(commit) : { pull: reported, mergeReference: isNamed ? reported : null }
    const pusher = newPushers.pushers.get(commit.sha)
    const edits = editsOf(commit, paths, {
      seq: ++seq,
      branch,
      mergeReference,
      pull,
      actor: pusher?.name ?? null,
      pushSize: pusher?.pushSize ?? null,
    })
    const isHeld = pull === null && pusher !== undefined && mayBeMerge(run, commit, edits, unsettled)
    const heldUntil = isHeld ? pusher.receivedAt + mergeWaitMs : null
    batch.push({ commit, edits: edits.map((edit) => ({ ...edit, heldUntil })) })
    size += edits.length
    messageLength += edits.reduce((total, { message }) => total + message.length, 0)
    if (batch.length >= batchSize || size >= batchSize || messageLength >= maxMessageLengthPerBatch) await flush()
  }
  await flush()
  const unread = Math.max(lease.repository.unreadPullsBelow ?? 0, landedPulls.unreadBelow() ?? 0)
  const unreadPullsBelow = unread === 0 ? null : unread
  return { promptAt: paths.promptAt, addedPaths, incomplete: boundary.size > 0, unreadPullsBelow, newPushers }
}

interface BatchFindings {
  pulls: ReadonlyMap<number, Pull>
  moves: PathMove[]
  incomplete: boolean
  /** Of the edits before the batch. */
  historyBytes: number
}

/** Returns the bytes of all edits. Rejects, and stores nothing, if they are too many. */
async function storeBatch(
  run: SyncRun,
  batch: CommitEdits[],
  { pulls, moves, incomplete, historyBytes: before }: BatchFindings,
): Promise<number> {
  const { context, lease, mirror, options } = run
  const { facts } = context.store
  const commits = batch.map(({ commit }) => commit)
  const merges = commits.filter(({ parents }) => parents.length > 1)
  // Without them, the merge's own author is shown. One hostile commit of a merged branch must not stop the sync.
  const authors = await withinLimit(sideAuthors(mirror.path, merges, options), () => new Map())
  const known = await facts.edits(lease.repository, { commits: commits.map(({ sha }) => sha) })
  const knownByKey = new Map(known.map((edit) => [keyOf(edit), edit]))
  const read = batch.flatMap(({ edits }) => edits)
  const added = read.filter((edit) => !knownByKey.has(keyOf(edit)))
  const historyBytes = added.reduce((sum, edit) => sum + bytesOf(edit), before)
  const { sizeLimit } = context
  if (added.length > 0 && historyBytes > sizeLimit) {
    throw new Error(`the history of the repository exceeds ${sizeLimit} bytes (REPOSITORY_SIZE_LIMIT)`)
  }
  const edits = read.map((edit) => {
    const author = authors.get(edit.commitSha)?.get(edit.path)
    const sideAuthor = author === undefined ? null : sanitisedPerson(author)
    return withKnownFacts({ ...edit, sideAuthor }, knownByKey.get(keyOf(edit)))
  })
  const numbers = new Set(edits.map(({ pull }) => pull))
  const landedPulls = [...pulls.values()].filter(({ number }) => numbers.has(number))
  edits.push(...(await earlierEdits(run, landedPulls, new Set(commits.map(({ sha }) => sha)))))
  await facts.apply(lease, {
    tip: (commits.at(-1) as Commit).sha,
    incomplete,
    paths: moves,
    edits,
    historyBytes,
    pulls: landedPulls,
    entries: await entryChangesFor(run, edits, landedPulls),
    // Commits that a rewrite had dropped are back.
    rewritten: known.some(({ orphanedAt }) => orphanedAt !== null),
  })
  return historyBytes
}

/** About what an edit takes, which is more than git needs for it: trees that are equal are one object there. */
function bytesOf({ path, message }: Edit): number {
  return rowBytes + path.length + message.length
}

/** The stored edits of pull requests that began to land before this batch, as part of their pull request. */
async function earlierEdits({ context, lease }: SyncRun, pulls: Pull[], batch: ReadonlySet<string>): Promise<Edit[]> {
  const pullOf = new Map(pulls.flatMap(({ number, landed }) => landed.map((sha) => [sha, number] as const)))
  const commits = [...pullOf.keys()].filter((sha) => !batch.has(sha))
  if (commits.length === 0) return []
  const stored = await context.store.facts.edits(lease.repository, { commits })
  return stored.map((edit) => ({ ...edit, pull: pullOf.get(edit.commitSha) ?? edit.pull }))
}

/** Keeps the known facts about an edit that is read again, which only happens after the branch was rewritten. */
function withKnownFacts(edit: Edit, before: Edit | undefined): Edit {
  if (before === undefined) return edit
  const pusher = closestPusher(pusherOf(edit), pusherOf(before))
  return {
    ...edit,
    seq: before.orphanedAt === null ? before.seq : edit.seq,
    pull: edit.pull ?? before.pull,
    heldUntil: before.heldUntil,
    actor: pusher?.name ?? before.actor,
    pushSize: pusher?.pushSize ?? null,
  }
}

/** Whether a pull request may be about to claim the commit. */
function mayBeMerge({ lease }: SyncRun, commit: Commit, edits: Edit[], { open, promptIds }: UnsettledPulls): boolean {
  const reference = edits[0]?.mergeReference ?? null
  if (reference !== null) return open.has(reference)
  if (commit.parents.length > 1 || forgeOf(lease.repository.forge).isForgeCommitter(commit.committer)) return true
  return edits.some(({ promptId }) => promptIds.has(promptId))
}

async function addPrompts({ context, lease, now }: SyncRun, paths: string[]): Promise<Map<string, number>> {
  if (paths.length === 0) return new Map()
  const prompts = paths.map((path) => promptFromPath(lease.repository.organisationId, path, now))
  return context.store.facts.addPrompts(lease, prompts)
}
