import { commitTrace } from '../domain/history/pull.ts'
import { isAncestor, readCommits } from '../git/log.ts'
import type { PullRefs } from '../git/pull-refs.ts'
import type { Mention, PullClaims } from './pull-claims.ts'
import type { PullTips } from './pull-tips.ts'

// Each costs up to two walks through the history. Real repositories have a handful.
const maxChecks = 100

/**
 * Proves merges that name a pull request without merging its head itself. Either commits were added when it was merged, so that
 * the head is among what was merged, or the branch was rebased afterwards, so that the head is a copy of what was merged.
 */
export async function claimHeads(
  { mirror, refs, tips, claims }: { mirror: string; refs: PullRefs; tips: PullTips; claims: PullClaims },
  mentions: Mention[],
): Promise<void> {
  let checks = 0
  for (const { number, sha, parent, merged } of mentions.toReversed()) {
    const head = refs.headOf(number)
    if (head === null || claims.claimFor(number) !== undefined || ++checks > maxChecks) continue
    const tip = tips.tipOf(number)
    const isMerged =
      tip === undefined
        ? !tips.isMissing(head) && (await isBroughtBy(mirror, head, sha, parent))
        : (await readCommits(mirror, ['--no-walk', ...merged])).some((side) => commitTrace(side) === tip.trace)
    if (isMerged) claims.add({ number, proof: 'head', landing: sha, landed: [sha] })
  }
}

async function isBroughtBy(mirror: string, head: string, merge: string, parent: string | null): Promise<boolean> {
  if (!(await isAncestor(mirror, head, merge))) return false
  return parent === null || !(await isAncestor(mirror, head, parent))
}
