import { isFullSha } from '../domain/history/entry.ts'
import { commitTrace, mergeOf, type Pull, type PullEvent, type PullHead } from '../domain/history/pull.ts'
import type { Commit, LogOptions } from '../git/commit.ts'
import { isAncestor, readCommits, readLog } from '../git/log.ts'
import { resolveCommit } from '../git/mirror.ts'
import { landingOf } from '../git/pull-base.ts'

interface Landing {
  landing: string
  /** Every commit of the pull request on the default branch. */
  landed: string[]
}

// A squash commit's date is within this distance of the merge event.
const maxDateDifferenceMs = 5 * 60_000
// How many commits of the default branch to search for a merge that the forge did not identify.
const searchDepth = 1_000

/** Finds where a merged pull request landed on the default branch; null if it did not or cannot be found. */
export async function findLanding(
  mirror: string,
  tip: string,
  pull: Pull,
  options: LogOptions,
): Promise<Landing | null> {
  const merge = mergeOf(pull)
  const unclear = pull.events.findLast(({ kind, intoDefault }) => kind === 'unclear' && intoDefault)
  if (merge?.mergeCommit) {
    const landing = await landedCommit(mirror, merge.mergeCommit, tip)
    return landing === null ? null : withLandedCommits(mirror, landing, pull)
  }
  const head = pull.heads.find(({ sha }) => sha.startsWith((merge ?? unclear)?.head ?? '-'))
  if (head === undefined) return null
  const merged = await landingOf(mirror, head.sha, tip)
  if (merged !== null) return withLandedCommits(mirror, merged, pull)
  if (merge === undefined) return null
  const landing = await findCopy(mirror, tip, pull, merge, head, options)
  return landing === null ? null : withLandedCommits(mirror, landing, pull)
}

/**
 * The reported merge commit, which may be shortened; null unless `tip` contains it. The mirror may already have it from the pull
 * request, or not yet.
 */
async function landedCommit(mirror: string, reported: string, tip: string): Promise<string | null> {
  const landing = isFullSha(reported) ? reported : await resolveCommit(mirror, reported)
  if (landing === null) return null
  try {
    return (await isAncestor(mirror, landing, tip)) ? landing : null
  } catch (error) {
    // Of a commit that is not there, git says what it says of a damaged mirror.
    if ((await resolveCommit(mirror, landing)) === null) return null
    throw error
  }
}

/** A rebase lands as consecutive commits that end with the landing. A merge or a squash is one commit. */
async function withLandedCommits(mirror: string, landing: string, pull: Pull): Promise<Landing> {
  const traces = new Set(pull.heads.flatMap((head) => head.traces))
  if (traces.size < 2) return { landing, landed: [landing] }
  const commits = await readCommits(mirror, ['--first-parent', '-n', String(traces.size), landing])
  const landed: string[] = []
  for (const commit of commits) {
    if (commit.parents.length > 1 || !traces.has(commitTrace(commit))) break
    landed.push(commit.sha)
  }
  return { landing, landed: landed.length === 0 ? [landing] : landed }
}

/**
 * Finds the rebased or squashed copy of a pull request whose merge commit the forge did not send. Tries a commit with the
 * same trace as the newest commit, then one with the same file contents, then one with its title at the time of the merge.
 */
async function findCopy(
  mirror: string,
  tip: string,
  pull: Pull,
  merge: PullEvent,
  head: PullHead,
  options: LogOptions,
): Promise<string | null> {
  const revisions = ['--first-parent', '-n', String(searchDepth), tip, `^${head.sha}`]
  const commits = await readCommits(mirror, revisions)
  const rebased = commits.find((commit) => commitTrace(commit) === head.traces[0])
  if (rebased !== undefined) return rebased.sha

  const blobs = new Map(head.files.map(({ path, newBlob }) => [path, newBlob]))
  let titled: string | null = null
  for await (const commit of readLog(mirror, revisions, options)) {
    if (hasSameContents(commit, blobs)) return commit.sha
    const isTitled = pull.title !== '' && commit.message.split('\n', 1)[0] === pull.title
    if (isTitled && Math.abs(commit.committedAt - merge.at) < maxDateDifferenceMs) titled ??= commit.sha
  }
  return titled
}

function hasSameContents({ files }: Commit, blobs: Map<string, string | null>): boolean {
  const matching = files.filter(({ path, newBlob }) => blobs.get(path) === newBlob)
  return blobs.size > 0 && matching.length === blobs.size
}
