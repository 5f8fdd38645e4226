import type { Instant } from '../domain/time.ts'
import { readPullBranches } from '../git/pull-tips.ts'
import type { ClaimSearch } from './pull-ancestry.ts'
import type { Mention, PullClaims } from './pull-claims.ts'
import { isSameAuthor, type Tip } from './pull-tips.ts'
import { canBeSquash } from './squashes.ts'

/** A commit whose title has the number of a pull request, though not as the forge or a bot writes it. */
export interface Hint extends Mention {
  authoredAt: Instant
  /** Whether the title has it as `(#7)`. */
  inBrackets: boolean
}

interface Candidate {
  hint: Hint
  tip: Tip
}

type Original = Pick<Tip, 'authoredAt' | 'author'>

/**
 * Finds squashes with a title that a person wrote, such as `Be kinder [Fixes #7]`. A title like that mostly mentions an issue, or a
 * pull request that landed elsewhere. So the commit must have the author and the author date of the pull request's head, which was
 * amended, or of the branch's first commit, which the others were squashed into. Or the forge made it for the author of the head,
 * with `(#7)` in the title.
 */
export async function claimHandSquashes(search: ClaimSearch, hints: Hint[]): Promise<void> {
  const { refs, tips, claims, ancestry } = search
  for (const hint of hints) {
    const { number, sha } = hint
    // It is the head itself, on top of the default branch, with the number in its title.
    const isHead = refs.headOf(number) === sha && isOpen(claims, hint)
    if (isHead) claims.add({ number, proof: 'squash', landing: sha, landed: [sha] })
  }
  const candidates = hints.flatMap((hint) => {
    const tip = tips.tipOf(hint.number)
    if (tip === undefined || !canBeSquash(tip, hint) || !isOpen(claims, hint)) return []
    return hint.isBare || isSameAuthor(hint, tip) ? { hint, tip } : []
  })
  const starts = await readStarts(search, candidates)
  // They are newest first, and the first commit of several is the squash.
  for (const { hint, tip } of candidates.toReversed()) {
    const { number, sha } = hint
    const start = starts.get(tip.sha)
    const isCopy = isCopyOf(hint, tip) || (start !== undefined && isCopyOf(hint, start))
    if (!isOpen(claims, hint) || !(isCopy || (isForgeTitle(hint) && ancestry.beganBefore(sha, tip)))) continue
    claims.add({ number, proof: 'squash', landing: sha, landed: [sha] })
  }
}

/** Whether the forge made the commit, with the number as it writes it itself. */
export function isForgeTitle({ byForge, inBrackets }: Hint): boolean {
  return byForge && inBrackets
}

function isOpen(claims: PullClaims, { number, sha }: Hint): boolean {
  return claims.claimFor(number) === undefined && claims.claimOf(sha) === undefined
}

function isCopyOf(hint: Hint, original: Original): boolean {
  return hint.authoredAt === original.authoredAt && hint.author.name === original.author.name
}

/** The first commit of each branch. */
async function readStarts({ run, refs, budget }: ClaimSearch, candidates: Candidate[]) {
  const starts = new Map<string, Original>()
  const open = candidates.filter(({ hint, tip }) => !hint.byForge && !isCopyOf(hint, tip))
  const selected = budget.select(open.map(({ hint }) => hint.number))
  const heads = new Set(budget.inOrder(selected).map((number) => refs.headOf(number) as string))
  const unread = await readPullBranches(run.mirror, run.tip, [...heads], (head, { commits }) => {
    const first = commits.at(-1)
    if (first !== undefined) starts.set(head, first)
  })
  for (const head of unread) budget.leave(refs.numbersOf(head))
  return starts
}
