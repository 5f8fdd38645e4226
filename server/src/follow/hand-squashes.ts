import type { Instant } from '../domain/time.ts'
import type { Mirror } from '../git/mirror.ts'
import type { PullRefs } from '../git/pull-refs.ts'
import { readPullRows } from '../git/pull-tips.ts'
import type { Mention, PullClaims } from './pull-claims.ts'
import type { PullTips, Tip } from './pull-tips.ts'
import { canBeSquash, isSameAuthor } from './squashes.ts'

/** A commit whose title has the number of a pull request, though not as the forge or a bot writes it. */
export interface Hint extends Mention {
  authoredAt: Instant
  /** Whether the title has it as `(#7)`. */
  inBrackets: boolean
}

interface HandSquashSearch {
  mirror: Mirror
  refs: PullRefs
  tips: PullTips
  claims: PullClaims
}

interface Candidate {
  hint: Hint
  tip: Tip
}

type Original = Pick<Tip, 'authoredAt' | 'author'>

// Each needs its branch from the server.
const maxBranches = 500

/**
 * Finds squashes with a title that a person wrote, such as `Be kinder [Fixes #7]`. A title like that mostly mentions an issue, or a
 * pull request that landed elsewhere. So the commit must have the author and the author date of the pull request's head, which was
 * amended, or of the branch's first commit, which the others were squashed into. Or the forge made it for the author of the head,
 * with `(#7)` in the title.
 */
export async function claimHandSquashes(search: HandSquashSearch, hints: Hint[]): Promise<void> {
  const { mirror, refs, tips, claims } = search
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
  const starts = await readStarts(mirror, candidates)
  // They are newest first, and the first commit of several is the squash.
  for (const { hint, tip } of candidates.toReversed()) {
    const { number, sha, byForge, inBrackets } = hint
    const start = starts.get(tip.sha)
    const isCopy = isCopyOf(hint, tip) || (start !== undefined && isCopyOf(hint, start))
    if (!isOpen(claims, hint) || !(isCopy || (byForge && inBrackets))) continue
    claims.add({ number, proof: 'squash', landing: sha, landed: [sha] })
  }
}

function isOpen(claims: PullClaims, { number, sha }: Hint): boolean {
  return claims.claimFor(number) === undefined && claims.claimOf(sha) === undefined
}

function isCopyOf(hint: Hint, original: Original): boolean {
  return hint.authoredAt === original.authoredAt && hint.author.name === original.author.name
}

/** The first commit of each branch. */
async function readStarts(mirror: Mirror, candidates: Candidate[]): Promise<Map<string, Original>> {
  const starts = new Map<string, Original>()
  const heads = new Set(
    candidates.filter(({ hint, tip }) => !hint.byForge && !isCopyOf(hint, tip)).map(({ tip }) => tip.sha),
  )
  await readPullRows(mirror, [...heads].slice(0, maxBranches), (head, row) => {
    const first = row.at(-1)
    if (first !== undefined) starts.set(head, first)
  })
  return starts
}
