import { type Commit, readCommits } from './commit.ts'
import { type Clone, gitText } from './git.ts'
import type { Heads } from './heads.ts'
import { isForgeMerge, type MergedBranch, mergedBranch, mergedPullBranch, named } from './message.ts'

/** What decides about the sides of a merge. */
export interface Judge {
  forge: string
  heads: Heads
  /** The name of the default branch, and its former names. */
  names: Set<string>
  /** The branches that exist. */
  branches: Set<string>
  /** `owner/project` of the repository itself, and of the one whose history it continues. Empty if unknown. */
  projects: Set<string>
}

export interface Decision {
  merge: string
  /** Which parent the line continues at. */
  side: 'first' | 'second' | 'unknown'
  reason: string
  /** `owner/project` of the merged branch, if pull requests decided: what was merged is the repository itself, or is not. */
  proven: string | null
}

interface Side {
  committers: Set<string>
  /** Pull requests that provably landed on this side. */
  verified: number
  /** Merges with a message of the forge. */
  marked: number
  /** Pull requests that the forge landed, by the message or the committer. */
  byForge: number
}

const dayMs = 86_400_000
const maxSideCommits = 20_000
const forgeCommitters = new Set(['noreply@github.com', 'noreply@gitlab.com'])

/**
 * Decides a merge of two parents. Only a merge of the default branch *into* something else swaps the sides: its first
 * parent is local work. The side on which pull requests landed is the default branch. Without pull requests, git's own
 * message decides, and without a clear message nothing does.
 */
export async function decide(clone: Clone, merge: Commit, judge: Judge): Promise<Decision> {
  const [first, second] = merge.parents
  const branch = mergedBranch(merge.subject)
  const is = (side: Decision['side'], reason: string): Decision => ({
    merge: merge.sha,
    side,
    reason,
    proven: null,
  })
  if (first === undefined || second === undefined || merge.parents.length > 2) return is('first', 'not a merge of two')
  if (judge.heads.numbersOf.has(second)) return is('first', 'the second parent is the head of a pull request')
  const isUpdate = isForkUpdate(merge.subject, judge)
  if (isForgeMerge(merge) && !isUpdate) return is('first', 'the forge made the merge')
  if (isUpdate) {
    const [a, b] = [await readSide(clone, first, second, judge), await readSide(clone, second, first, judge)]
    return b.verified >= a.verified
      ? is('second', 'the forge merged the default branch into that of a fork')
      : is('unknown', `verified pull requests: ${a.verified} on the first side, ${b.verified} on the second`)
  }
  const kind = branch === null ? null : kindOf(branch, judge)
  if (branch === null || kind === null) return is('first', 'not a merge of the default branch')
  if (kind === 'unclear') return is('unknown', 'the default branch may have had another name then')
  const [a, b] = [await readSide(clone, first, second, judge), await readSide(clone, second, first, judge)]
  const landings = byLandings(a, b)
  const isClear = isPulledFromItself(branch, judge) || isIntoFeature(branch, judge)
  const isDecided = landings !== null && !(isClear && isLocalWork(a, b, branch))
  const found = isDecided ? landings : byMessage(merge, branch, judge, a, b)
  if (found.side !== 'first' && (await rootOf(clone, first)) !== (await rootOf(clone, second))) {
    return is('first', 'the second parent leads to another root: the history of another project')
  }
  return {
    ...is(found.side, found.reason),
    proven: !isDecided || found.side === 'unknown' ? null : branch.project,
  }
}

// An imported history may have had another default branch than the repository has now.
const commonNames = new Set(['master', 'main', 'trunk', 'develop', 'development', 'dev'])

/** Whether the merged branch can be the default branch itself. Null if it cannot. */
function kindOf(branch: MergedBranch, judge: Judge): 'clear' | 'unclear' | null {
  const { name, into } = branch
  const { names } = judge
  const isOwn = isPulledFromItself(branch, judge)
  // git leaves out `into master`.
  if (isOwn && name === (into ?? 'master') && (commonNames.has(name) || names.has(name))) return 'clear'
  // Beside `develop`, an existing `master` is that of releases.
  const isGone = !judge.branches.has(name)
  if (isOwn && isGone && commonNames.has(name) && isIntoFeature(branch, judge)) return 'clear'
  const isOtherTarget = into !== null && into !== name && !names.has(into)
  if (names.has(name)) return isOtherTarget && commonNames.has(into) ? 'unclear' : 'clear'
  return isOtherTarget && commonNames.has(name) ? 'unclear' : null
}

/** Whether a pull request of a fork merged the default branch of the repository itself. The repository has no such one. */
function isForkUpdate(subject: string, { names, projects }: Judge): boolean {
  const pull = mergedPullBranch(subject)
  return pull !== null && names.has(pull.name) && projects.values().some((each) => each.split('/')[0] === pull.owner)
}

function isPulledFromItself({ remote, project }: MergedBranch, { projects }: Judge): boolean {
  return remote === 'origin' || (project !== null && projects.has(project))
}

/** Whether the message has a target that is no usual name of a default branch. */
function isIntoFeature({ name, into }: MergedBranch, { names }: Judge): boolean {
  return into !== null && into !== name && !commonNames.has(into) && !names.has(into)
}

/**
 * Whether the pull requests of the first side can be part of local work. Those of a feature's branch landed on the forge too, but
 * the branch that nearly all of them went to was the default branch. Those of a pull were merged by hand.
 */
function isLocalWork(a: Side, b: Side, { name, into }: MergedBranch): boolean {
  if (into !== null && into !== name) return a.verified < 5 || a.verified < 5 * b.verified
  return a.byForge <= b.byForge
}

type Found = Pick<Decision, 'side' | 'reason'>

function byLandings(a: Side, b: Side): Found | null {
  for (const [kind, x, y] of [
    ['verified', a.verified, b.verified],
    ['marked', a.marked, b.marked],
  ] as const) {
    if (x === 0 && y === 0) continue
    const reason = `${kind} pull requests: ${x} on the first side, ${y} on the second`
    // Local work can hold a few merges of its own.
    if (x === 0 || y >= 5 * x) return { side: 'second', reason }
    if (y === 0 || x >= 5 * y) return { side: 'first', reason }
    return { side: 'unknown', reason }
  }
  return null
}

function byMessage(merge: Commit, branch: MergedBranch, judge: Judge, a: Side, b: Side): Found {
  const { project, into, remote } = branch
  if (project !== null && judge.projects.size > 0) {
    return judge.projects.has(project)
      ? { side: 'second', reason: 'a pull from the repository itself' }
      : { side: 'first', reason: `a pull from another repository, ${project}` }
  }
  if (remote === 'origin') return { side: 'second', reason: 'a pull from origin' }
  if (into !== null && !judge.names.has(into)) return { side: 'second', reason: `made on the branch ${into}` }
  const isLocal = [...a.committers].every((each) => each === merge.committer.email)
  const hasOthers = [...b.committers].some((each) => each !== merge.committer.email)
  if (isLocal && b.committers.size > 1) return { side: 'second', reason: 'the first side is the work of one person' }
  if (!isLocal && b.committers.size === 1 && hasOthers) {
    return { side: 'first', reason: 'the second side is the work of one other person' }
  }
  return { side: 'unknown', reason: 'neither pull requests nor the message tell the sides apart' }
}

/** The first-parent chain of one parent, as far as the other one does not contain it. */
async function readSide(clone: Clone, from: string, other: string, judge: Judge): Promise<Side> {
  const side: Side = { committers: new Set(), verified: 0, marked: 0, byForge: 0 }
  const revisions = ['--first-parent', `--max-count=${maxSideCommits}`, from, `^${other}`]
  for await (const commit of readCommits(clone, revisions)) {
    side.committers.add(commit.committer.email)
    const isOwn = isVerified(commit, judge)
    // A merge that was rebased onto local work keeps its message.
    const isMarked = commit.parents.length > 1 && isForgeMerge(commit)
    if (isOwn) side.verified++
    if (isMarked) side.marked++
    if (isMarked || (isOwn && forgeCommitters.has(commit.committer.email))) side.byForge++
  }
  return side
}

function isVerified(commit: Commit, { heads, forge }: Judge): boolean {
  const [, ...merged] = commit.parents
  if (merged.length > 0) return merged.some((parent) => heads.numbersOf.has(parent))
  const [number = 0] = named(commit, forge).numbers
  const head = heads.byNumber.get(number)
  if (head === undefined || heads.landed.has(head.sha)) return false
  return head.committedAt <= commit.committedAt + dayMs
}

async function rootOf(clone: Clone, commit: string): Promise<string> {
  const roots = await gitText(clone, ['rev-list', '--first-parent', '--max-parents=0', commit, '--'])
  return roots.trim()
}
