import type { Arrivals } from './arrivals.ts'
import type { Commit } from './commit.ts'
import { streamMessages } from './log.ts'
import { revisions } from './rev-list.ts'
import { GitError } from './run.ts'

/**
 * The commits that a push added to the default branch, or all of a small repository, in memory, so that each step of a sync need not start
 * git for them.
 */
export interface AddedCommits {
  /** The commit before them, an ancestor of the newest. Null if they are the whole history. */
  readonly from: string | null
  /** Newest first, with those that merges brought. */
  readonly shas: readonly string[]
  /** Those of the default branch, newest first. */
  readonly line: readonly Commit[]
  /** Whether each of them has one parent. */
  readonly isLinear: boolean
  commit(sha: string): Commit | undefined
  arrivals(): Arrivals
  /** What `git rev-list after ^before` lists; null if it may list older commits too. */
  between(before: string, after: string): string[] | null
}

// A push adds a few, and most repositories have no more than this. More are read as a stream. Each takes about 1 KB and its message.
const maxCommits = 10_000
const maxMessageLength = 8_000_000

/** Null if there are too many for memory, or if the default branch no longer contains `from`. */
export async function readAddedCommits(mirror: string, from: string | null, to: string): Promise<AddedCommits | null> {
  const commits = new Map<string, Commit>()
  let messageLength = 0
  try {
    const limit = ['-n', String(maxCommits + 1)]
    for await (const commit of from === to ? [] : streamMessages(mirror, [...limit, ...revisions(from, to)])) {
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
  const leadsToStart = (shas: Iterable<string>) =>
    from === null || Iterator.from(shas).some((sha) => commits.get(sha)?.parents.includes(from))
  if ((from !== to && !leadsToStart(commits.keys())) || (line.at(-1)?.parents[0] ?? from) !== from) return null
  const shas = [...commits.keys()]
  let positions: ReadonlyMap<string, number> | undefined
  const positionOf = (sha: string) => {
    positions ??= positionsOf(commits, line)
    return positions.get(sha)
  }
  const linePosition = (sha: string) => {
    const position = positionOf(sha) ?? -1
    return line[position]?.sha === sha ? position : null
  }
  let brought: ReadonlyMap<number | undefined, readonly number[]> | undefined
  // What a commit of the default branch brought, as indexes of `shas`.
  const broughtBy = (position: number) => {
    brought ??= Map.groupBy(shas.keys(), (i) => positionOf(shas[i] as string))
    return brought.get(position) ?? []
  }
  const startsLine = from === null || line.at(-1)?.parents[0] === from
  return {
    from,
    shas,
    line,
    isLinear: line.length === shas.length,
    commit: (sha) => commits.get(sha),
    arrivals() {
      const otherwise = from === null ? -1 : Number.POSITIVE_INFINITY
      return { positionOf: (sha) => positionOf(sha) ?? otherwise }
    },
    between(before, after) {
      if (!commits.has(after) || (before !== from && !commits.has(before))) return null
      const [newest, end] = [linePosition(after), before === from ? line.length : linePosition(before)]
      // Pushes to the default branch mostly follow its line. A backlog of them would otherwise walk the whole history for each.
      if (startsLine && newest !== null && end !== null) {
        const found: number[] = []
        for (let i = newest; i < end; i++) found.push(...broughtBy(i))
        return found.sort((a, b) => a - b).map((i) => shas[i] as string)
      }
      const older = reachable(commits, before)
      // Otherwise, commits older than `from` may not be part of `before`.
      if (before !== from && !leadsToStart(older)) return null
      const newer = reachable(commits, after)
      return shas.filter((sha) => newer.has(sha) && !older.has(sha))
    },
  }
}

/** The commits of the default branch after `from`, newest first. */
export function streamLine(
  mirror: string,
  from: string | null,
  to: string,
  added: AddedCommits | null,
): Iterable<Commit> | AsyncIterable<Commit> {
  if (added !== null && added.from === from) return added.line
  return streamMessages(mirror, ['--first-parent', ...revisions(from, to)])
}

function* firstParents(commits: ReadonlyMap<string, Commit>, start: string): Generator<Commit> {
  for (let commit = commits.get(start); commit; commit = commits.get(commit.parents[0] ?? '')) yield commit
}

/** For each commit, the oldest one of the default branch that contains it, which brought it. */
function positionsOf(commits: ReadonlyMap<string, Commit>, line: readonly Commit[]): ReadonlyMap<string, number> {
  const positions = new Map<string, number>()
  for (const [i, { sha }] of [...line.entries()].reverse()) {
    for (const each of reachable(commits, sha, positions)) positions.set(each, i)
  }
  return positions
}

/** The commit and its ancestors, as far as they are among these and not behind one of `known`. */
function reachable(
  commits: ReadonlyMap<string, Commit>,
  start: string,
  known: ReadonlyMap<string, unknown> = new Map(),
): Set<string> {
  const found = new Set<string>()
  const stack = [start]
  for (let sha = stack.pop(); sha !== undefined; sha = stack.pop()) {
    const commit = found.has(sha) || known.has(sha) ? undefined : commits.get(sha)
    if (commit === undefined) continue
    found.add(sha)
    stack.push(...commit.parents)
  }
  return found
}
