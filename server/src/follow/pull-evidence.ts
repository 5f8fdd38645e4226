import { isLocalUrl } from '../domain/repositories/repository-url.ts'
import { forgeOf } from '../forges/index.ts'
import type { MergeReference } from '../forges/merge-reference.ts'
import type { Commit } from '../git/commit.ts'
import { streamMessages } from '../git/log.ts'
import { revisions } from '../git/log-range.ts'
import type { PullRefs } from '../git/pull-refs.ts'
import { withinLimit } from '../git/run.ts'
import { referenceReader } from './merge-references.ts'
import { claimHeads } from './merged-heads.ts'
import { createClaims, type Mention, type PullClaims } from './pull-claims.ts'
import { readTips } from './pull-tips.ts'
import { claimRebases } from './rebases.ts'
import { claimSquashes } from './squashes.ts'
import type { SyncRun } from './sync-run.ts'

/**
 * Finds which pull request landed as which commits of the default branch, from git alone. A message names a pull request but does
 * not prove it: see `Proof`. What the forge reported in deliveries takes precedence over all of it.
 *
 * Reads every commit from `from` to the newest, with or without prompts: a commit that only mentions a pull request may change a
 * prompt although the one that landed it does not. `reported` are the numbers that deliveries have told of.
 */
export async function readPullEvidence(
  run: SyncRun,
  from: string | null,
  refs: PullRefs,
  reported: ReadonlySet<number>,
): Promise<PullClaims> {
  const { repository } = run.lease
  const forge = forgeOf(repository.forge)
  const readReference = referenceReader(repository)
  const claims = createClaims()
  const merges: Mention[] = []
  const titles: Mention[] = []
  const headsOnLine = new Set<string>()
  let hasOthers = false

  // A clone in a folder may lack the refs of the forge. Then only the text that the forge itself writes counts.
  const hasAllRefs = refs.isComplete && (refs.count > 0 || !isLocalUrl(repository.url))
  const isProven = ({ number, isForgeText }: MergeReference, { committer }: Commit) => {
    if (refs.headOf(number) !== null) return isForgeText && !forge.keepsPullRefs
    if (reported.has(number)) return true
    if (!forge.keepsPullRefs) return isForgeText
    return !hasAllRefs && (isForgeText || forge.isForgeCommitter(committer))
  }

  const read = async () => {
    for await (const commit of streamMessages(run.mirror.path, ['--first-parent', ...revisions(from, run.tip)])) {
      const { sha, committedAt, author } = commit
      const [parent = null, ...merged] = commit.parents
      if (refs.isPullHead(sha)) headsOnLine.add(sha)
      const reference = readReference(commit)
      const number = numberOfHeads(merged, reference, refs)
      if (number !== null) {
        claims.add({ number, proof: 'head', landing: sha, landed: [sha] })
      } else if (reference !== null && isProven(reference, commit)) {
        // Older commits replace newer ones, but not those with a better proof.
        const isBetter = claims.claimFor(reference.number)?.proof !== 'head'
        if (isBetter) claims.add({ number: reference.number, proof: 'message', landing: sha, landed: [sha] })
      } else {
        if (merged.length === 0) hasOthers = true
        if (reference === null) continue
        const byForge = forge.isForgeCommitter(commit.committer)
        const mention = { number: reference.number, sha, parent, merged, committedAt, author, byForge }
        if (merged.length > 0) merges.push(mention)
        else titles.push(mention)
      }
    }
  }
  // Messages that are too large for git's limits prove nothing. The commits read so far are newer than those.
  await withinLimit(read(), () => {})
  if (refs.count === 0 || (merges.length === 0 && !hasOthers)) return claims
  const tips = await readTips(run, refs)
  const search = { mirror: run.mirror.path, from, refs, tips, claims, readReference, headsOnLine }
  await claimHeads(search, merges)
  await claimSquashes(search, titles)
  await claimRebases({ mirror: run.mirror, from, to: run.tip, tips, claims })
  return claims
}

/** The pull request whose head is merged. Of several with the same head, the one that the message names, or the newest. */
function numberOfHeads(merged: string[], reference: MergeReference | null, refs: PullRefs): number | null {
  const numbers = merged.map((sha) => refs.numbersOf(sha)).filter((found) => found.length > 0)
  if (reference !== null && numbers.flat().includes(reference.number)) return reference.number
  return numbers[0]?.at(-1) ?? null
}
