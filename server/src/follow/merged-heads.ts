import { commitTrace } from '../domain/history/pull.ts'
import { streamListed } from '../git/log.ts'
import type { ClaimSearch } from './pull-ancestry.ts'
import type { Mention } from './pull-claims.ts'

/**
 * Proves merges that name a pull request without merging its head itself. Commits were added when it was merged, so that the head is
 * among what was merged; or it was rebased before or after, so that what was merged is a copy of the head; or the bot that merged it
 * squashed it first. A subject that has the number anywhere, such as `Merge branch 'kinder', closes #7`, counts only with the head.
 */
export async function claimHeads(
  { run, refs, tips, claims, ancestry }: ClaimSearch,
  mentions: Mention[],
): Promise<void> {
  const open = mentions.filter(
    ({ number }) => claims.claimFor(number) === undefined && tips.hasHead(refs.headOf(number)),
  )
  const sides = await readSides(
    run.mirror.path,
    open.filter(({ number }) => tips.tipOf(number) !== undefined).flatMap(({ merged }) => merged),
  )
  for (const mention of open) {
    const { number, sha, merged, isBare = false } = mention
    if (claims.claimFor(number) !== undefined || claims.claimOf(sha) !== undefined) continue
    const tip = tips.tipOf(number)
    const found = merged.flatMap((each) => sides.get(each) ?? [])
    const isMerged =
      tip === undefined
        ? ancestry.brought(sha, refs.headOf(number) as string)
        : !isBare &&
          (found.some(({ trace }) => trace === tip.trace) ||
            (found.some((side) => isSquashOfBot(side, mention)) && ancestry.beganBefore(sha, tip)))
    if (isMerged) claims.add({ number, proof: 'head', landing: sha, landed: [sha] })
  }
}

/** What was merged: the newest commit of the merged branch. */
interface Side {
  trace: string
  /** The address of its author, if the committer has the same and it has one parent. */
  soleAuthor: string | null
}

/** Bors can squash: then it is the author of the only merged commit, and of the merge. */
function isSquashOfBot({ soleAuthor }: Side, { author, committer }: Mention): boolean {
  return soleAuthor === author.email && author.email === committer.email
}

async function readSides(mirror: string, shas: string[]): Promise<Map<string, Side>> {
  const sides = new Map<string, Side>()
  for await (const commit of streamListed(mirror, shas)) {
    const { author, committer, parents } = commit
    const isSole = author.email === committer.email && parents.length === 1
    sides.set(commit.sha, { trace: commitTrace(commit), soleAuthor: isSole ? author.email : null })
  }
  return sides
}
