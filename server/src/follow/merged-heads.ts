import { commitTrace } from '../domain/history/pull.ts'
import { hasMerged } from '../git/first-parents.ts'
import { readCommits } from '../git/log.ts'
import type { PullRefs } from '../git/pull-refs.ts'
import type { Mention, PullClaims } from './pull-claims.ts'
import type { PullTips } from './pull-tips.ts'

// Each costs a walk through the commits that were merged.
const maxWalks = 100
const maxMerges = 5_000
const commitsPerLog = 500

/**
 * Proves merges that name a pull request without merging its head itself. Either commits were added when it was merged, so that
 * the head is among what was merged, or it was rebased before or after, so that what was merged is a copy of the head. `mentions`
 * are newest first: those of an imported history, which are never proven, do not use up the limits.
 */
export async function claimHeads(
  { mirror, refs, tips, claims }: { mirror: string; refs: PullRefs; tips: PullTips; claims: PullClaims },
  mentions: Mention[],
): Promise<void> {
  const open = mentions.filter(
    ({ number }) => claims.claimFor(number) === undefined && tips.hasHead(refs.headOf(number)),
  )
  const copied = open.filter(({ number }) => tips.tipOf(number) !== undefined).slice(0, maxMerges)
  const traces = await readTraces(
    mirror,
    copied.flatMap(({ merged }) => merged),
  )
  let walks = 0
  for (const { number, sha, parent, merged } of open) {
    if (claims.claimFor(number) !== undefined) continue
    const tip = tips.tipOf(number)
    const isMerged =
      tip === undefined
        ? ++walks <= maxWalks && (await hasMerged(mirror, { merge: sha, parent }, refs.headOf(number) as string))
        : merged.some((side) => traces.get(side) === tip.trace)
    if (isMerged) claims.add({ number, proof: 'head', landing: sha, landed: [sha] })
  }
}

async function readTraces(mirror: string, shas: string[]): Promise<Map<string, string>> {
  const traces = new Map<string, string>()
  for (let start = 0; start < shas.length; start += commitsPerLog) {
    const part = await readCommits(mirror, ['--no-walk=unsorted', ...shas.slice(start, start + commitsPerLog)])
    for (const commit of part) traces.set(commit.sha, commitTrace(commit))
  }
  return traces
}
