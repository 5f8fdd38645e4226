import { commitTrace } from '../domain/history/pull.ts'
import type { Commit, Person } from '../git/commit.ts'
import { collectPullNumbers } from '../git/pull-numbers.ts'
import type { PullRefs } from '../git/pull-refs.ts'
import { keptCommits, missingCommits, readPullTips } from '../git/pull-tips.ts'
import type { BranchBudget } from './branch-budget.ts'
import type { SyncRun } from './sync-run.ts'

/** The head commit of a pull request. */
export interface Tip extends Pick<Commit, 'sha' | 'parents' | 'committedAt' | 'authoredAt' | 'author'> {
  trace: string
}

/** The heads that are not part of the default branch, so that the pull request was squashed, rebased or not merged. */
export interface PullTips {
  tipOf(number: number): Tip | undefined
  /** The pull requests whose head commit has this trace, in ascending order. */
  numbersOf(trace: string): readonly number[]
  /** Whether git has the head, here or on the default branch. */
  hasHead(sha: string | null): boolean
  count: number
}

/** Which heads can prove something. The others, mostly of pull requests that were never merged, are not kept in memory. */
interface RelevantTips {
  numbers: ReadonlySet<number>
  traces: ReadonlySet<string>
}

// About 230,000 heads. Anyone who opens a pull request decides how many parents its head has, and how long its author's name is.
const maxTipsBytes = 96 * 1024 * 1024
const bytesOfFields = 400

/** Reads the heads of these pull requests, and fetches those that git does not have. Those beyond the limits are for the next sync. */
export async function readTips(
  run: SyncRun,
  refs: PullRefs,
  numbers: Iterable<number>,
  relevant: RelevantTips,
  budget: BranchBudget,
): Promise<PullTips> {
  const heads = new Set(budget.inOrder(numbers).flatMap((number) => refs.headOf(number) ?? []))
  const outside = await missingIn(run, heads)
  // The mirror has these because deliveries reported them, not because the default branch contains them.
  for (const sha of await keptCommits(run.mirror.path)) if (heads.has(sha)) outside.add(sha)
  const tips = new Map<string, Tip>()
  const numbersByTrace = collectPullNumbers()
  const isRelevant = ({ sha, parents, trace }: Tip) =>
    parents.length > 1 || relevant.traces.has(trace) || refs.numbersOf(sha).some((each) => relevant.numbers.has(each))
  let bytes = 0
  const leave = (sha: string) => budget.leave(refs.numbersOf(sha))
  const unread = await readPullTips(
    run.mirror,
    [...heads].filter((sha) => outside.has(sha)),
    (commit) => {
      const tip = tipOf(commit)
      if (tips.has(commit.sha) || !isRelevant(tip)) return
      bytes += bytesOf(tip)
      if (bytes > maxTipsBytes) return leave(commit.sha)
      tips.set(commit.sha, tip)
      for (const number of refs.numbersOf(commit.sha)) numbersByTrace.add(tip.trace, number)
    },
  )
  unread.forEach(leave)
  return {
    tipOf: (number) => tips.get(refs.headOf(number) ?? ''),
    numbersOf: numbersByTrace.finish().of,
    hasHead: (sha) => sha !== null && (tips.has(sha) || !outside.has(sha)),
    count: tips.size,
  }
}

/** Those of the commits that the mirror does not have. If all commits of the default branch are known, those that it does not contain. */
export async function missingIn(
  { mirror, added }: Pick<SyncRun, 'mirror' | 'added'>,
  shas: Iterable<string>,
): Promise<Set<string>> {
  if (added?.from !== null) return missingCommits(mirror.path, shas)
  return new Set(Iterator.from(shas).filter((sha) => added.commit(sha) === undefined))
}

function bytesOf({ sha, parents, author: { name, email } }: Tip): number {
  return bytesOfFields + (parents.length - 1) * sha.length + name.length + email.length
}

export function tipOf(commit: Commit): Tip {
  const { sha, parents, committedAt, authoredAt, author } = commit
  return { sha, parents, committedAt, authoredAt, author, trace: commitTrace(commit) }
}

export function isSameAuthor({ author }: Pick<Commit, 'author'>, tip: Tip): boolean {
  return isSamePerson(author, tip.author)
}

export function isSamePerson(one: Person, other: Person): boolean {
  return one.email === other.email || one.name === other.name
}
