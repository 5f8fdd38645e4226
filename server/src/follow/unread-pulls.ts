import type { Edit } from '../domain/history/edit.ts'
import type { Pull } from '../domain/history/pull.ts'
import { pullOf } from './landed-pulls.ts'
import type { Claim } from './pull-claims.ts'
import { branchBudgetOf, readPullEvidence } from './pull-evidence.ts'
import { entryChangesFor, type SyncRun } from './sync-run.ts'

const claimsPerBatch = 500

/**
 * Continues with the pull requests whose branches earlier syncs left, and changes the entries of those that landed. Returns where
 * the next sync has to continue; null if all have been read.
 */
export async function readUnreadPulls(run: SyncRun, below: number): Promise<number | null> {
  const { context, lease } = run
  const budget = branchBudgetOf(run, below)
  const claims = await readPullEvidence(run, null, new Set(), budget)
  const found = [...claims.all()].filter(({ number }) => number < below)
  for (let start = 0; start < found.length; start += claimsPerBatch) {
    await recordClaims(run, found.slice(start, start + claimsPerBatch))
  }
  const unreadPullsBelow = budget.unreadBelow()
  await context.store.facts.apply(lease, { unreadPullsBelow })
  return unreadPullsBelow
}

/** Adds the claims to edits that belong to no pull request. What deliveries reported counts more. */
async function recordClaims(run: SyncRun, claims: Claim[]): Promise<void> {
  const { facts } = run.context.store
  const { repository } = run.lease
  const claimOf = new Map(claims.flatMap((claim) => claim.landed.map((sha) => [sha, claim] as const)))
  const stored = await facts.edits(repository, { commits: [...claimOf.keys()] })
  const known = await facts.pulls(
    repository,
    claims.map(({ number }) => number),
  )
  const reported = new Set(known.filter(({ events }) => events.length > 0).map(({ number }) => number))
  const edits: Edit[] = []
  const pulls = new Map<number, Pull>()
  for (const edit of stored) {
    const claim = claimOf.get(edit.commitSha) as Claim
    const isFree = edit.pull === null && edit.mergeReference === null && edit.orphanedAt === null
    if (!isFree || reported.has(claim.number)) continue
    const { number, landed } = claim
    if (landed.length > 1) pulls.set(number, pullOf(repository, claim, edit.committedAt))
    edits.push(landed.length > 1 ? { ...edit, pull: number } : { ...edit, mergeReference: number })
  }
  if (edits.length === 0) return
  const changed = [...pulls.values()]
  await facts.apply(run.lease, { edits, pulls: changed, entries: await entryChangesFor(run, edits, changed) })
}
