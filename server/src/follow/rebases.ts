import { commitTrace } from '../domain/history/pull.ts'
import type { Instant } from '../domain/time.ts'
import { streamCommits } from '../git/log.ts'
import type { Mirror } from '../git/mirror.ts'
import { maxRowLength, missingCommits, readPullRows } from '../git/pull-tips.ts'
import type { PullClaims } from './pull-claims.ts'
import type { PullTips, Tip } from './pull-tips.ts'

/** A commit on the default branch that is a copy of a pull request's head. */
export interface Copy {
  number: number
  landing: string
  committedAt: Instant
}

interface RowCommit {
  sha: string
  isMerge: boolean
  trace: string
}

interface RowSearch {
  mirror: Mirror
  tip: string
  tips: PullTips
  claims: PullClaims
}

// A copy is made after the original. A head that is newer is a copy of the landing, such as a backport to another branch.
const maxClockDifferenceMs = 5 * 60_000
// Each needs its branch from the server. The others are `deployed`.
const maxRows = 2_000

/**
 * Finds the pull requests that were rebased: all of their commits are on the default branch, in a row, with the same author, time
 * and title. `copies` are newest first.
 */
export async function claimRebases({ mirror, tip, tips, claims }: RowSearch, copies: Copy[]): Promise<void> {
  const tipOf = ({ number }: Copy) => tips.tipOf(number) as Tip
  const parentOf = (copy: Copy) => tipOf(copy).parents[0] as string
  const candidates = copies.toReversed().filter((copy) => {
    const { parents, committedAt } = tipOf(copy)
    return parents.length === 1 && committedAt <= copy.committedAt + maxClockDifferenceMs
  })
  const outside = await missingCommits(mirror.path, new Set(candidates.map(parentOf)))
  const longer = candidates.filter((copy) => outside.has(parentOf(copy))).slice(-maxRows)
  const branches = await readBranches(mirror, new Set(longer.map((copy) => tipOf(copy).sha)))
  const lines = await readLines(
    mirror.path,
    tip,
    new Map(longer.map((copy) => [copy.landing, branches.get(tipOf(copy).sha)?.length ?? 0])),
  )
  const missing = await missingCommits(mirror.path, new Set([...branches.values()].flat().map(({ sha }) => sha)))
  // Oldest first: a pull request that was built on another begins where that one ends.
  for (const copy of candidates) {
    const { number, landing } = copy
    if (claims.claimFor(number) !== undefined || claims.claimOf(landing) !== undefined) continue
    const landed = outside.has(parentOf(copy))
      ? landedRow(branches.get(tipOf(copy).sha) ?? [], lines.get(landing) ?? [], missing, claims)
      : [landing]
    if (landed.length > 0) claims.add({ number, proof: 'rebase', landing, landed })
  }
}

/** The copies of the branch's commits, newest first; none if some of them are missing. */
function landedRow(branch: RowCommit[], line: RowCommit[], missing: Set<string>, claims: PullClaims): string[] {
  const landed: string[] = []
  for (const original of branch) {
    // The default branch, merged into the pull request. A rebase leaves such merges out.
    if (original.isMerge) continue
    const copy = line[landed.length]
    const isCopy = copy !== undefined && !copy.isMerge && copy.trace === original.trace
    if (isCopy && claims.claimOf(copy.sha) === undefined) {
      landed.push(copy.sha)
      continue
    }
    // Here the pull request begins: where another one ended, or on the default branch.
    return isCopy || !missing.has(original.sha) ? landed : []
  }
  return []
}

/** The commits of each branch, newest first. */
async function readBranches(mirror: Mirror, heads: Set<string>): Promise<Map<string, RowCommit[]>> {
  const branches = new Map<string, RowCommit[]>()
  await readPullRows(mirror, [...heads], (head, commits) => {
    const row = commits.map(({ sha, parents, ...commit }) => ({
      sha,
      isMerge: parents.length > 1,
      trace: commitTrace(commit),
    }))
    branches.set(head, row)
  })
  return branches
}

/** For each landing, as many commits of the default branch as asked for, from it backwards. Reads all landings in one pass. */
async function readLines(mirror: string, tip: string, lengths: Map<string, number>): Promise<Map<string, RowCommit[]>> {
  const lines = new Map<string, RowCommit[]>()
  const unfinished = new Set<string>()
  const wanted = new Set(lengths.keys())
  if (wanted.size === 0) return lines
  for await (const commit of streamCommits(mirror, ['--first-parent', tip])) {
    const { sha, parents } = commit
    if (wanted.delete(sha)) {
      lines.set(sha, [])
      unfinished.add(sha)
    }
    const row = unfinished.size === 0 ? null : { sha, isMerge: parents.length > 1, trace: commitTrace(commit) }
    for (const landing of unfinished) {
      const line = lines.get(landing) as RowCommit[]
      line.push(row as RowCommit)
      if (line.length >= Math.min(lengths.get(landing) ?? 0, maxRowLength) || row?.isMerge) unfinished.delete(landing)
    }
    if (wanted.size === 0 && unfinished.size === 0) break
  }
  return lines
}
