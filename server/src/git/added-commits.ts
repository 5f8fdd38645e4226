import type { Commit } from './commit.ts'
import { streamMessages } from './log.ts'
import { GitError } from './run.ts'

/** The commits that a push added to the default branch, in memory, so that each step of a sync need not start git for them. */
export interface AddedCommits {
  /** The commit before them. It is an ancestor of the newest. */
  readonly from: string
  /** Newest first, with those that merges brought. */
  readonly shas: readonly string[]
  /** Those of the default branch, newest first. */
  readonly line: readonly Commit[]
  /** Whether each of them has one parent. */
  readonly isLinear: boolean
  /** What `git rev-list after ^before` lists; null if it may list older commits too. */
  between(before: string, after: string): string[] | null
}

// A push adds a few. More are read as a stream.
const maxCommits = 1_000
const maxMessageLength = 4_000_000

/** Null if there are too many for memory, or if the default branch no longer contains `from`. */
export async function readAddedCommits(mirror: string, from: string, to: string): Promise<AddedCommits | null> {
  const commits = new Map<string, Commit>()
  let messageLength = 0
  try {
    for await (const commit of streamMessages(mirror, ['-n', String(maxCommits + 1), to, `^${from}`])) {
      commits.set(commit.sha, commit)
      messageLength += commit.message.length
      if (commits.size > maxCommits || messageLength > maxMessageLength) return null
    }
  } catch (error) {
    // It exceeds a limit, or git does not have `from`.
    if (error instanceof GitError) return null
    throw error
  }
  const line = [...firstParents(commits, to)]
  const isAncestor = from === to || commits.values().some(({ parents }) => parents.includes(from))
  if (!isAncestor || (line.at(-1)?.parents[0] ?? from) !== from) return null
  const shas = [...commits.keys()]
  return {
    from,
    shas,
    line,
    isLinear: line.length === shas.length,
    between(before, after) {
      const older = reachable(commits, before)
      // Otherwise, commits older than `from` may not be part of `before`.
      const isComplete = before === from || older.values().some((sha) => commits.get(sha)?.parents.includes(from))
      if (!isComplete || !commits.has(after)) return null
      const newer = reachable(commits, after)
      return shas.filter((sha) => newer.has(sha) && !older.has(sha))
    },
  }
}

function* firstParents(commits: ReadonlyMap<string, Commit>, start: string): Generator<Commit> {
  for (let commit = commits.get(start); commit; commit = commits.get(commit.parents[0] ?? '')) yield commit
}

/** The commit and its ancestors, as far as they are among these. */
function reachable(commits: ReadonlyMap<string, Commit>, start: string): Set<string> {
  const found = new Set<string>()
  const stack = [start]
  for (let sha = stack.pop(); sha !== undefined; sha = stack.pop()) {
    const commit = found.has(sha) ? undefined : commits.get(sha)
    if (commit === undefined) continue
    found.add(sha)
    stack.push(...commit.parents)
  }
  return found
}
