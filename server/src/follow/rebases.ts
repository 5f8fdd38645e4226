import { commitTrace } from '../domain/history/pull.ts'
import type { Instant } from '../domain/time.ts'
import { streamLine } from '../git/added-commits.ts'
import type { Commit } from '../git/commit.ts'
import { collectPullNumbers, type PullNumbers } from '../git/pull-numbers.ts'
import type { PullRefs } from '../git/pull-refs.ts'
import { maxRowLength, readMergedTips, readPullBranches } from '../git/pull-tips.ts'
import { withinLimit } from '../git/run.ts'
import type { ClaimSearch } from './pull-ancestry.ts'
import type { Claim, PullClaims } from './pull-claims.ts'
import { missingIn, type Tip } from './pull-tips.ts'

/** A commit on the default branch that is a copy of a pull request's newest commit. */
interface Copy {
  number: number
  tip: Tip
  sha: string
}

interface RowCommit extends Pick<Commit, 'sha' | 'committedAt'> {
  isMerge: boolean
  trace: string
}

/** The commits of the default branch around a copy, newest first. */
interface Surroundings {
  commits: RowCommit[]
  /** Where the copy is. */
  at: number
}

// A copy is made after the original. A commit of a pull request that is newer is a copy of the landing, such as a backport to
// another branch.
const maxClockDifferenceMs = 5 * 60_000
// A forge commits all commits of a rebase at once.
const maxRebaseMs = 2_000
// More pull requests with the same newest commit, or more copies, are no evidence but an attempt to keep the worker busy.
const maxPullsPerTrace = 100
const maxCopies = 500_000

/**
 * Finds the pull requests that were rebased: all of their commits are on the default branch, in a row, with the same author, time
 * and title. A rebase by hand can change their order. Merges inside the pull request, such as of the default branch, are left out.
 */
export async function claimRebases(search: ClaimSearch): Promise<void> {
  const { refs, claims, budget } = search
  const copies = await findCopies(search)
  const outside = await missingIn(search.run, new Set(copies.flatMap(({ tip }) => tip.parents)))
  const isLong = ({ tip }: Copy) => tip.parents.length > 1 || tip.parents.some((parent) => outside.has(parent))
  const selected = budget.select(copies.filter(isLong).map(({ number }) => number))
  const long = new Set(copies.filter((copy) => isLong(copy) && selected.has(copy.number)))
  const branches = await readBranches(search, selected)
  const lines = await readLines(search, lengthsOf([...long], branches))
  for (const copy of copies) {
    const { number, tip, sha } = copy
    const known = claims.claimFor(number)
    const around = lines.get(sha)
    const row = long.has(copy) && around ? landedRow(number, branches.get(tip.sha) ?? [], around, claims) : []
    // One of the commits may have the number in its title, and look like a squash of all of them.
    if (known !== undefined && !(known.proof === 'squash' && row.includes(known.landing))) continue
    const landed = isLong(copy) || claims.claimOf(sha) !== undefined ? row : [sha]
    const [landing] = landed
    // A pull request with the same commits, such as a later attempt, was fast-forwarded.
    const isReplaced = landed.some((commit) => isHeadOfAnother(refs, commit, number))
    if (landing !== undefined && !isReplaced) claims.add({ number, proof: 'rebase', landing, landed })
  }
}

function isHeadOfAnother(refs: PullRefs, sha: string, number: number): boolean {
  return refs.isPullHead(sha) && !refs.numbersOf(sha).includes(number)
}

/** Oldest first: a pull request that was built on another begins where that one ends. */
async function findCopies(search: ClaimSearch): Promise<Copy[]> {
  const { run, from, tips, claims } = search
  const copies: Copy[] = []
  if (tips.count === 0) return copies
  const mergedBy = await readMerged(search)
  const find = async () => {
    for await (const commit of streamLine(run.mirror.path, from, run.tip, run.added)) {
      if (commit.parents.length > 1 || isProven(claims.claimOf(commit.sha))) continue
      const trace = commitTrace(commit)
      const numbers = [tips.numbersOf(trace), mergedBy.of(trace)].filter(({ length }) => length <= maxPullsPerTrace)
      for (const number of numbers.flat()) {
        const tip = tips.tipOf(number) as Tip
        if (tip.parents.length > 0 && isOlder(tip, commit)) copies.push({ number, tip, sha: commit.sha })
      }
      if (copies.length > maxCopies) return
    }
  }
  await withinLimit(find(), () => {})
  return copies.reverse()
}

/** A title alone may have the number of the pull request that a commit was taken from: see `landedRow`. */
function isProven(claim: Claim | undefined): boolean {
  return claim !== undefined && claim.proof !== 'squash'
}

function isOlder(original: { committedAt: Instant }, copy: { committedAt: Instant }): boolean {
  return original.committedAt <= copy.committedAt + maxClockDifferenceMs
}

/** For pull requests whose head is a merge: the traces of the commits that it merges, and the numbers. */
async function readMerged({ run, refs, tips, claims, budget }: ClaimSearch): Promise<PullNumbers> {
  const merges = new Map<string, Tip>()
  for (const number of budget.inOrder(refs.numbers())) {
    const tip = claims.claimFor(number) === undefined ? tips.tipOf(number) : undefined
    if (tip !== undefined && tip.parents.length > 1) merges.set(tip.sha, tip)
  }
  const numbers = collectPullNumbers()
  const unread = await readMergedTips(run.mirror, [...merges.values()], (head, parent) => {
    const trace = commitTrace(parent)
    for (const number of refs.numbersOf(head)) numbers.add(trace, number)
  })
  for (const head of unread) budget.leave(refs.numbersOf(head))
  return numbers.finish()
}

/** The commits that landed, newest first; none if some of the branch are missing. */
function landedRow(number: number, branch: RowCommit[], { commits, at }: Surroundings, claims: PullClaims): string[] {
  const originals = new Map(branch.map((original) => [original.trace, original]))
  const isForeign = (commit: RowCommit) => {
    const original = originals.get(commit.trace)
    return commit.isMerge || original === undefined || !isOlder(original, commit)
  }
  const start = commits.findLastIndex((commit, i) => i < at && isForeign(commit)) + 1
  const end = commits.findIndex((commit, i) => i > at && isForeign(commit))
  const row = commits.slice(start, end === -1 ? undefined : end)
  const shaOf = new Map(row.map(({ sha, trace }) => [trace, sha]))
  // A commit of the branch may have the number of the pull request that it was taken from in its title. Committed together with
  // another one of the branch, it landed with that.
  const isTogether = (one: RowCommit, other: RowCommit) =>
    one !== other && Math.abs(one.committedAt - other.committedAt) <= maxRebaseMs
  const isOfAnother = (commit: RowCommit) => {
    const claim = claims.claimOf(commit.sha)
    if (claim === undefined || claim.number === number) return false
    return isProven(claim) || !row.some((other) => isTogether(commit, other))
  }
  const claimed = new Set(row.filter(isOfAnother).map(({ sha }) => sha))
  const isClaimed = (sha: string | undefined) => sha !== undefined && claimed.has(sha)
  // Where another pull request ended, this one may begin: it was built on an earlier version of that one.
  const base = branch.findIndex(({ trace }) => isClaimed(shaOf.get(trace)))
  const isWhole = branch.every(({ trace }) => shaOf.has(trace))
  const own = isWhole ? branch : branch.slice(0, Math.max(base, 0))
  if (!own.every(({ trace }) => shaOf.has(trace))) return []
  const ownTraces = new Set(own.map(({ trace }) => trace))
  return row.filter(({ sha, trace }) => ownTraces.has(trace) && !isClaimed(sha)).map(({ sha }) => sha)
}

/** The commits of each branch, newest first. */
async function readBranches(
  { run, refs, budget }: ClaimSearch,
  numbers: ReadonlySet<number>,
): Promise<Map<string, RowCommit[]>> {
  const branches = new Map<string, RowCommit[]>()
  const heads = new Set(budget.inOrder(numbers).map((number) => refs.headOf(number) as string))
  const unread = await readPullBranches(run.mirror, run.tip, [...heads], (head, { commits }) => {
    branches.set(head, commits.map(rowCommit))
  })
  for (const head of unread) budget.leave(refs.numbersOf(head))
  return branches
}

/** How far around each copy the rest of its branch can be. */
function lengthsOf(copies: Copy[], branches: ReadonlyMap<string, RowCommit[]>): Map<string, number> {
  const lengths = new Map<string, number>()
  for (const { sha, tip } of copies) {
    lengths.set(sha, Math.max(lengths.get(sha) ?? 0, branches.get(tip.sha)?.length ?? 0))
  }
  return lengths
}

/** The surroundings of each copy on the default branch. Reads all of them in one pass. */
async function readLines({ run }: ClaimSearch, lengths: Map<string, number>): Promise<Map<string, Surroundings>> {
  const lines = new Map<string, Surroundings>()
  const unfinished = new Set<string>()
  const wanted = new Set(lengths.keys())
  if (wanted.size === 0) return lines
  const recent: RowCommit[] = []
  const read = async () => {
    for await (const commit of streamLine(run.mirror.path, null, run.tip, run.added)) {
      const row = rowCommit(commit)
      for (const sha of unfinished) {
        const { commits, at } = lines.get(sha) as Surroundings
        commits.push(row)
        if (commits.length - at > (lengths.get(sha) ?? 0) || row.isMerge) unfinished.delete(sha)
      }
      recent.push(row)
      if (recent.length > maxRowLength + 1) recent.shift()
      if (wanted.delete(commit.sha)) {
        const commits = recent.slice(-(lengths.get(commit.sha) ?? 0) - 1)
        lines.set(commit.sha, { commits, at: commits.length - 1 })
        unfinished.add(commit.sha)
      }
      if (wanted.size === 0 && unfinished.size === 0) break
    }
  }
  await withinLimit(read(), () => {})
  return lines
}

function rowCommit(commit: Commit): RowCommit {
  const { sha, parents, committedAt } = commit
  return { sha, isMerge: parents.length > 1, trace: commitTrace(commit), committedAt }
}
