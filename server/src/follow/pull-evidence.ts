import { commitTrace } from '../domain/history/pull.ts'
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
import { type Copy, claimRebases } from './rebases.ts'
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
  const tips = await readTips(run, refs)
  const merges: Mention[] = []
  const titles: Mention[] = []
  const copies: Copy[] = []

  // A clone in a folder may lack the refs of the forge. Then only the text that the forge itself writes counts.
  const hasRefs = refs.count > 0 || !isLocalUrl(repository.url)
  const isProven = ({ number, isForgeText }: MergeReference, { committer }: Commit) => {
    if (refs.headOf(number) === null && reported.has(number)) return true
    if (!forge.keepsPullRefs) return isForgeText
    return !hasRefs && (isForgeText || forge.isForgeCommitter(committer))
  }

  const read = async () => {
    for await (const commit of streamMessages(run.mirror.path, ['--first-parent', ...revisions(from, run.tip)])) {
      const { sha, committedAt, author } = commit
      const [parent = null, ...merged] = commit.parents
      const reference = readReference(commit)
      const number = numberOfHeads(merged, reference, refs)
      if (number !== null) {
        claims.add({ number, proof: 'head', landing: sha, landed: [sha] })
        continue
      }
      if (reference !== null && isProven(reference, commit)) {
        // Older commits replace newer ones, but not those with a better proof.
        const isBetter = claims.claimFor(reference.number)?.proof !== 'head'
        if (isBetter) claims.add({ number: reference.number, proof: 'message', landing: sha, landed: [sha] })
        continue
      }
      if (reference !== null) {
        const byForge = forge.isForgeCommitter(commit.committer)
        const mention = { number: reference.number, sha, parent, merged, committedAt, author, byForge }
        if (merged.length > 0) merges.push(mention)
        else titles.push(mention)
      }
      if (merged.length > 0 || tips.count === 0) continue
      for (const copied of tips.numbersOf(commitTrace(commit))) {
        copies.push({ number: copied, landing: sha, committedAt })
      }
    }
  }
  // Messages that are too large for git's limits prove nothing. The commits read so far are newer than those.
  await withinLimit(read(), () => {})
  const search = { mirror: run.mirror.path, from, refs, tips, claims, readReference }
  await claimHeads(search, merges)
  await claimSquashes(search, titles)
  await claimRebases({ mirror: run.mirror, tip: run.tip, tips, claims }, copies)
  return claims
}

/** The pull request whose head is merged. Of several with the same head, the one that the message names, or the newest. */
function numberOfHeads(merged: string[], reference: MergeReference | null, refs: PullRefs): number | null {
  const numbers = merged.map((sha) => refs.numbersOf(sha)).filter((found) => found.length > 0)
  if (reference !== null && numbers.flat().includes(reference.number)) return reference.number
  return numbers[0]?.at(-1) ?? null
}
