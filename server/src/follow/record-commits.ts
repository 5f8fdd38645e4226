import type { Edit } from '../domain/history/edit.ts'
import type { Pull } from '../domain/history/pull.ts'
import { promptFromPath } from '../domain/prompt.ts'
import { forgeOf } from '../forges/index.ts'
import type { Commit } from '../git/commit.ts'
import { readMainline } from '../git/mainline.ts'
import { readShallowBoundary } from '../git/mirror.ts'
import { sideAuthors } from '../git/pull-head.ts'
import { listRemoteRefs } from '../git/remote.ts'
import { withinLimit } from '../git/run.ts'
import { dropUnknownFiles, editsOf, newPaths, sanitisedPerson } from './edits.ts'
import { type PathMove, type PromptPaths, trackPaths } from './prompt-paths.ts'
import type { PullFindings, UnsettledPulls } from './pulls.ts'
import { findPushers } from './pushers.ts'
import type { ResumePoint } from './resume-point.ts'
import { entryChangesFor, type SyncRun } from './sync-run.ts'

// Applies to commits and to edits, because one commit can change thousands of files.
const batchSize = 500
// A forge sends a merge and its push as two deliveries. A commit that may be a merge waits this long for the other one.
const mergeWaitMs = 10_000

/** Called with the number of commits recorded so far. */
export type OnCommits = (count: number) => void | Promise<void>

export interface RecordedCommits {
  promptAt: PromptPaths['promptAt']
  /** The paths that became prompts. */
  addedPaths: string[]
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
  if (from === tip) return { promptAt: paths.promptAt, addedPaths }
  const forge = forgeOf(lease.repository.forge)
  const boundary = await readShallowBoundary(mirror.path)
  const pushers = await findPushers(run, from)
  const pullOf = new Map([...pulls.values()].flatMap(({ number, landed }) => landed.map((sha) => [sha, number])))
  const isPullNumber = pullNumberCheck(run, unsettled)
  let seq = await context.store.facts.lastSeq(lease.repository)
  let batch: CommitEdits[] = []
  let recorded = 0

  async function flush(): Promise<void> {
    if (batch.length === 0) return
    await storeBatch(run, batch, { pulls, moves: paths.takeMoves(), incomplete: boundary.size > 0 })
    recorded += batch.length
    batch = []
    await onCommits(recorded)
  }

  const options = { ...run.options, isKnown: (path: string) => paths.promptAt(path) !== undefined }
  for await (const read of readMainline(mirror.path, { from, to: tip, branch }, options)) {
    const commit = dropUnknownFiles(read, paths)
    const added = newPaths(commit, paths)
    if (added.length > 0) {
      // A path that a prompt just left must be free in the store before another prompt takes it.
      if (paths.hasMoves()) await flush()
      for (const [path, promptId] of await addPrompts(run, added)) paths.add(path, promptId)
      addedPaths.push(...added)
    }
    // In the oldest commit of a shallow repository every file looks new, so its real changes are unknown.
    if (boundary.has(commit.sha)) continue
    const reference = forge.mergeReference({
      parents: commit.parents.length,
      subject: commit.message.split('\n', 1)[0] ?? '',
      message: commit.message,
    })
    const pull = pullOf.get(commit.sha) ?? null
    const pusher = pushers.get(commit.sha)
    const edits = editsOf(commit, paths, {
      seq: ++seq,
      branch,
      mergeReference: reference !== null && (await isPullNumber(reference)) ? reference : null,
      pull,
      actor: pusher?.name ?? null,
    })
    const isHeld = pull === null && pusher !== undefined && mayBeMerge(run, commit, edits, unsettled)
    const heldUntil = isHeld ? pusher.receivedAt + mergeWaitMs : null
    batch.push({ commit, edits: edits.map((edit) => ({ ...edit, heldUntil })) })
    if (batch.length >= batchSize || countEdits(batch) >= batchSize) await flush()
  }
  await flush()
  return { promptAt: paths.promptAt, addedPaths }
}

function countEdits(batch: CommitEdits[]): number {
  return batch.reduce((total, { edits }) => total + edits.length, 0)
}

async function storeBatch(
  run: SyncRun,
  batch: CommitEdits[],
  { pulls, moves, incomplete }: { pulls: ReadonlyMap<number, Pull>; moves: PathMove[]; incomplete: boolean },
): Promise<void> {
  const { context, lease, mirror, options } = run
  const { facts } = context.store
  const commits = batch.map(({ commit }) => commit)
  const merges = commits.filter(({ parents }) => parents.length > 1)
  // Without them, the merge's own author is shown. One hostile commit of a merged branch must not stop the sync.
  const authors = await withinLimit(sideAuthors(mirror.path, merges, options), () => new Map())
  const known = await facts.edits(lease.repository, { commits: commits.map(({ sha }) => sha) })
  const edits = batch
    .flatMap(({ edits }) => edits)
    .map((edit) => {
      const author = authors.get(edit.commitSha)?.get(edit.path)
      return withKnownFacts({ ...edit, sideAuthor: author === undefined ? null : sanitisedPerson(author) }, known)
    })
  const numbers = new Set(edits.map(({ pull }) => pull))
  const landedPulls = [...pulls.values()].filter(({ number }) => numbers.has(number))
  await facts.apply(lease, {
    tip: (commits.at(-1) as Commit).sha,
    incomplete,
    paths: moves,
    edits,
    pulls: landedPulls,
    entries: await entryChangesFor(run, edits, landedPulls),
  })
}

/** Keeps the known facts about an edit that is read again, which only happens after the branch was rewritten. */
function withKnownFacts(edit: Edit, known: Edit[]): Edit {
  const before = known.find(({ commitSha, promptId }) => commitSha === edit.commitSha && promptId === edit.promptId)
  if (before === undefined) return edit
  return {
    ...edit,
    seq: before.orphanedAt === null ? before.seq : edit.seq,
    pull: edit.pull ?? before.pull,
    heldUntil: before.heldUntil,
    actor: edit.actor ?? before.actor,
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
  const prompts = paths.map((path) => promptFromPath(lease.repository.organisationId, path, now))
  return context.store.facts.addPrompts(lease, prompts)
}

/** Checks whether the forge has a pull request with this number, because many numbers in messages mean something else. */
function pullNumberCheck({ lease, mirror }: SyncRun, { known }: UnsettledPulls): (number: number) => Promise<boolean> {
  const forge = forgeOf(lease.repository.forge)
  let refs: Promise<Set<string>> | null = null
  return async (number) => {
    const ref = forge.pullRef(number)
    if (ref === null || known.has(number)) return true
    refs ??= listRemoteRefs(mirror.remote, ref.replace(String(number), '*'))
    return (await refs).has(ref)
  }
}
