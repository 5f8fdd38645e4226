import { commitTrace } from '../domain/history/pull.ts'
import type { Instant } from '../domain/time.ts'
import type { Commit } from '../git/commit.ts'
import type { PullRefs } from '../git/pull-refs.ts'
import { keptCommits, missingCommits, readPullTips } from '../git/pull-tips.ts'
import type { SyncRun } from './sync-run.ts'

/** The head commit of a pull request. */
export interface Tip {
  sha: string
  parents: string[]
  committedAt: Instant
  authoredAt: Instant
  author: { name: string; email: string }
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

/** Reads the heads of these pull requests, and fetches those that git does not have. Needs about 300 bytes of memory for each. */
export async function readTips({ mirror }: SyncRun, refs: PullRefs, numbers: Iterable<number>): Promise<PullTips> {
  const heads = new Set([...numbers].flatMap((number) => refs.headOf(number) ?? []))
  const outside = await missingCommits(mirror.path, heads)
  // The mirror has these because deliveries reported them, not because the default branch contains them.
  for (const sha of await keptCommits(mirror.path)) if (heads.has(sha)) outside.add(sha)
  const tips = new Map<string, Tip>()
  const numbersByTrace = new Map<string, number | number[]>()
  await readPullTips(mirror, [...outside], (commit) => {
    const tip = tipOf(commit)
    tips.set(commit.sha, tip)
    const others = numbersByTrace.get(tip.trace) ?? []
    const all = [others, refs.numbersOf(commit.sha)].flat(2).sort((a, b) => a - b)
    numbersByTrace.set(tip.trace, all.length === 1 ? (all[0] as number) : all)
  })
  return {
    tipOf: (number) => tips.get(refs.headOf(number) ?? ''),
    numbersOf: (trace) => [numbersByTrace.get(trace) ?? []].flat(),
    hasHead: (sha) => sha !== null && (tips.has(sha) || !outside.has(sha)),
    count: tips.size,
  }
}

export function tipOf(commit: Commit): Tip {
  const { sha, parents, committedAt, authoredAt, author } = commit
  return { sha, parents, committedAt, authoredAt, author, trace: commitTrace(commit) }
}
