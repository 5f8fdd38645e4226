import { commitTrace } from '../domain/history/pull.ts'
import type { Commit } from '../git/commit.ts'
import { streamCommits } from '../git/log.ts'
import { revisions } from '../git/log-range.ts'
import type { Mirror } from '../git/mirror.ts'
import { maxRowLength, missingCommits, readPullRows } from '../git/pull-tips.ts'
import { withinLimit } from '../git/run.ts'
import type { PullClaims } from './pull-claims.ts'
import type { PullTips, Tip } from './pull-tips.ts'

interface RebaseSearch {
  mirror: Mirror
  /** The last commit that was read before, and the newest. */
  from: string | null
  to: string
  tips: PullTips
  claims: PullClaims
}

/** A commit on the default branch that is a copy of a pull request's head. */
interface Copy {
  number: number
  tip: Tip
  landing: string
  /** The commit before the head. */
  parent: string
}

interface RowCommit {
  sha: string
  isMerge: boolean
  trace: string
}

// A copy is made after the original. A head that is newer is a copy of the landing, such as a backport to another branch.
const maxClockDifferenceMs = 5 * 60_000
// Each needs its branch from the server. Of the older ones, only those of a single commit are found.
const maxRows = 2_000

/**
 * Finds the pull requests that were rebased: all of their commits are on the default branch, in a row, with the same author, time
 * and title.
 */
export async function claimRebases(search: RebaseSearch): Promise<void> {
  const { mirror, claims } = search
  const copies = await findCopies(search)
  const outside = await missingCommits(mirror.path, new Set(copies.map(({ parent }) => parent)))
  const longer = copies.filter(({ parent }) => outside.has(parent)).slice(-maxRows)
  const branches = await readBranches(mirror, new Set(longer.map(({ tip }) => tip.sha)))
  const lengths = new Map(longer.map(({ landing, tip }) => [landing, branches.get(tip.sha)?.length ?? 0]))
  const lines = await readLines(search, lengths)
  const missing = await missingCommits(mirror.path, new Set([...branches.values()].flat().map(({ sha }) => sha)))
  for (const { number, tip, landing, parent } of copies) {
    if (claims.claimFor(number) !== undefined || claims.claimOf(landing) !== undefined) continue
    const landed = outside.has(parent)
      ? landedRow(branches.get(tip.sha) ?? [], lines.get(landing) ?? [], missing, claims)
      : [landing]
    if (landed.length > 0) claims.add({ number, proof: 'rebase', landing, landed })
  }
}

/** Oldest first: a pull request that was built on another begins where that one ends. */
async function findCopies({ mirror, from, to, tips, claims }: RebaseSearch): Promise<Copy[]> {
  const copies: Copy[] = []
  if (tips.count === 0) return copies
  const find = async () => {
    for await (const commit of streamCommits(mirror.path, ['--first-parent', '--no-merges', ...revisions(from, to)])) {
      if (claims.claimOf(commit.sha) !== undefined) continue
      for (const number of tips.numbersOf(commitTrace(commit))) {
        const tip = tips.tipOf(number) as Tip
        const [parent, ...others] = tip.parents
        const isOlder = tip.committedAt <= commit.committedAt + maxClockDifferenceMs
        if (parent !== undefined && others.length === 0 && isOlder) {
          copies.push({ number, tip, landing: commit.sha, parent })
        }
      }
    }
  }
  await withinLimit(find(), () => {})
  return copies.reverse()
}

/** The copies of the branch's commits, newest first; none if some of them are missing. */
function landedRow(branch: RowCommit[], line: RowCommit[], missing: Set<string>, claims: PullClaims): string[] {
  const landed: string[] = []
  for (const original of branch) {
    // The default branch, merged into the pull request. A rebase leaves such merges out.
    if (original.isMerge) continue
    const copy = line[landed.length]
    // A commit of the default branch itself, on which the pull request was built.
    if (copy?.sha === original.sha) return landed
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
    branches.set(head, commits.map(rowCommit))
  })
  return branches
}

/** For each landing, as many commits of the default branch as asked for, from it backwards. Reads all of them in one pass. */
async function readLines(
  { mirror, to }: RebaseSearch,
  lengths: Map<string, number>,
): Promise<Map<string, RowCommit[]>> {
  const lines = new Map<string, RowCommit[]>()
  const unfinished = new Set<string>()
  const wanted = new Set(lengths.keys())
  if (wanted.size === 0) return lines
  const read = async () => {
    for await (const commit of streamCommits(mirror.path, ['--first-parent', to])) {
      if (wanted.delete(commit.sha)) {
        lines.set(commit.sha, [])
        unfinished.add(commit.sha)
      }
      const row = rowCommit(commit)
      for (const landing of unfinished) {
        const line = lines.get(landing) as RowCommit[]
        line.push(row)
        const length = Math.min(lengths.get(landing) ?? 0, maxRowLength)
        if (line.length >= length || row.isMerge) unfinished.delete(landing)
      }
      if (wanted.size === 0 && unfinished.size === 0) break
    }
  }
  await withinLimit(read(), () => {})
  return lines
}

function rowCommit(commit: Commit): RowCommit {
  return { sha: commit.sha, isMerge: commit.parents.length > 1, trace: commitTrace(commit) }
}
