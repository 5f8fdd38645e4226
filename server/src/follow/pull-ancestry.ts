import { readArrivals } from '../git/arrivals.ts'
import { mergeBase } from '../git/log.ts'
import type { PullRefs } from '../git/pull-refs.ts'
import { readPullBranches } from '../git/pull-tips.ts'
import type { BranchBudget } from './branch-budget.ts'
import type { ReferenceReader } from './merge-references.ts'
import type { Mention, PullClaims } from './pull-claims.ts'
import { isSameAuthor, missingIn, type PullTips, type Tip } from './pull-tips.ts'
import type { SyncRun } from './sync-run.ts'

/** What the searches for the commits that pull requests landed as have in common. */
export interface ClaimSearch {
  run: Pick<SyncRun, 'mirror' | 'tip' | 'added'>
  /** The last commit that was read before; null on the first read. */
  from: string | null
  refs: PullRefs
  tips: PullTips
  claims: PullClaims
  ancestry: PullAncestry
  readReference: ReferenceReader
  budget: BranchBudget
}

/** What the history says about a commit of the default branch that names a pull request. */
interface PullAncestry {
  /** Whether the other commit is part of this one's history. */
  contains(commit: string, ancestor: string): boolean
  /** Whether this very commit brought the other one to the default branch. */
  brought(commit: string, ancestor: string): boolean
  /** Whether the pull request began at the default branch, before this commit. */
  beganBefore(commit: string, tip: Tip): boolean
}

/** A commit that may be the squash of the pull request with this head. */
export interface SquashCandidate {
  mention: Mention
  tip: Tip
}

interface AncestryQuery {
  /** The commits of the default branch that name pull requests. */
  commits: Iterable<string>
  /** Heads that the default branch contains. */
  heads: Iterable<string>
  candidates: SquashCandidate[]
  budget: BranchBudget
}

// Each costs a walk through the history. Real repositories have a handful. Further pull requests are for the next sync.
const maxWalkedPulls = 1_000
// More commits with the number of one pull request are no evidence but an attempt to keep the worker busy.
const maxWalksPerPull = 10

/**
 * Reads the ancestry of pull requests and of the commits that may have landed them. An imported history has titles like
 * `Title (#7)` too, but pull request 7 of this repository did not begin in that history.
 */
export async function readPullAncestry(
  run: ClaimSearch['run'],
  from: string | null,
  { commits, heads, candidates, budget }: AncestryQuery,
): Promise<PullAncestry> {
  const { mirror, tip: newest, added } = run
  const bases = await readBases(run, candidates, budget)
  const wanted = new Set([...commits, ...heads, ...[...bases.values()].flat()])
  const isInMemory = added !== null && added.from === from
  const { positionOf } = isInMemory ? added.arrivals() : await readArrivals(mirror.path, { from, to: newest }, wanted)
  const began = new Set<string>()
  const open: SquashCandidate[] = []
  for (const candidate of candidates) {
    const { mention, tip } = candidate
    const ofBranch = bases.get(tip.sha) ?? []
    if (ofBranch.some((base) => positionOf(base) > positionOf(mention.sha))) began.add(keyOf(mention.sha, tip))
    else if (ofBranch.some((base) => positionOf(base) >= 0)) open.push(candidate)
  }
  // Part of these branches may have landed later, with something else. Then the base is not where the branch began.
  const openPulls = Map.groupBy(open, ({ mention }) => mention.number)
  for (const number of budget.select(openPulls.keys(), maxWalkedPulls)) {
    for (const candidate of openPulls.get(number)?.slice(-maxWalksPerPull) ?? []) {
      const { mention, tip } = candidate
      const later = bases.get(tip.sha)?.filter((base) => positionOf(base) >= 0) ?? []
      if (await isRelated(mirror.path, candidate, later)) began.add(keyOf(mention.sha, tip))
    }
  }
  return {
    contains: (commit, ancestor) => positionOf(ancestor) >= positionOf(commit),
    brought: (commit, ancestor) => positionOf(ancestor) === positionOf(commit),
    beganBefore: (commit, tip) => began.has(keyOf(commit, tip)),
  }
}

function keyOf(commit: string, { sha }: Tip): string {
  return `${commit} ${sha}`
}

/** The commits that each pull request began at or merged, as far as the mirror has them. */
async function readBases(
  run: ClaimSearch['run'],
  candidates: SquashCandidate[],
  budget: BranchBudget,
): Promise<Map<string, string[]>> {
  const tipOf = new Map(candidates.map(({ mention, tip }) => [mention.number, tip]))
  const tips = new Set(budget.inOrder(tipOf.keys()).map((number) => tipOf.get(number) as Tip))
  const outside = await missingIn(run, new Set([...tips].flatMap(({ parents }) => parents)))
  const bases = new Map([...tips].map(({ sha, parents }) => [sha, parents.filter((parent) => !outside.has(parent))]))
  // A branch of several commits has its base further back.
  const unknown = [...bases].filter(([, inside]) => inside.length === 0).map(([sha]) => sha)
  const unread = new Set(
    await readPullBranches(run.mirror, run.tip, unknown, (head, branch) => bases.set(head, branch.bases)),
  )
  budget.leave(candidates.filter(({ tip }) => unread.has(tip.sha)).map(({ mention }) => mention.number))
  return bases
}

/** Whether the branch contains the commit before the squash, or has its author and any commit before it. */
async function isRelated(mirror: string, { mention, tip }: SquashCandidate, bases: string[]): Promise<boolean> {
  const { parent } = mention
  if (parent === null) return false
  for (const base of bases) {
    const common = await mergeBase(mirror, base, parent)
    if (common !== null && (common === parent || isSameAuthor(mention, tip))) return true
  }
  return false
}
