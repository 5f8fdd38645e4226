import type { Edit } from '../domain/history/edit.ts'
import type { Pull } from '../domain/history/pull.ts'
import type { Repository } from '../domain/repositories/repository.ts'
import { webUrlOf } from '../domain/repositories/repository-url.ts'
import type { Instant } from '../domain/time.ts'
import { forgeOf } from '../forges/index.ts'
import type { Commit } from '../git/commit.ts'
import type { Claim, PullClaims } from './pull-claims.ts'
import { branchBudgetOf, readPullEvidence } from './pull-evidence.ts'
import { entryChangesFor, type SyncRun } from './sync-run.ts'

type PullOfCommit = Pick<Edit, 'pull' | 'mergeReference'>

/** The pull requests that git proves to have landed. Nothing is read before the first commit asks. */
interface LandedPulls {
  of(commit: Commit): Promise<PullOfCommit>
  /** The pull requests that landed as several of these commits, since the last call. They have to be stored with the commits. */
  takeRebased(): Map<number, Pull>
  /** See `BranchBudget`. */
  unreadBelow(): number | null
}

export function createLandedPulls(run: SyncRun, from: string | null, reported: ReadonlySet<number>): LandedPulls {
  const { repository } = run.lease
  const budget = branchBudgetOf(run, null)
  let claims: PullClaims | null = null
  let rebased = new Map<number, Pull>()
  const isKnown = new Map<number, boolean>()

  /** Whether deliveries reported it. What they say counts, so git adds nothing to it. */
  async function isReported(number: number): Promise<boolean> {
    const known = isKnown.get(number) ?? (await storedEvents(number)) > 0
    isKnown.set(number, known)
    return known
  }

  async function storedEvents(number: number): Promise<number> {
    const [pull] = await run.context.store.facts.pulls(repository, [number])
    return pull?.events.length ?? 0
  }

  return {
    async of(commit) {
      claims ??= await readPullEvidence(run, from, reported, budget)
      const claim = claims.claimOf(commit.sha)
      if (claim === undefined) return { pull: null, mergeReference: null }
      const { number, landing, landed } = claim
      if (landed.length === 1) return { pull: null, mergeReference: number }
      if (await isReported(number)) return { pull: null, mergeReference: commit.sha === landing ? number : null }
      rebased.set(number, pullOf(repository, claim, commit.committedAt))
      return { pull: number, mergeReference: null }
    },
    takeRebased() {
      const taken = rebased
      rebased = new Map()
      return taken
    },
    unreadBelow: budget.unreadBelow,
  }
}

/** A pull request that only git tells of. */
function pullOf(repository: Repository, { number, landing, landed }: Claim, openedAt: Instant): Pull {
  const url = webUrlOf(repository) + forgeOf(repository.forge).pullPath(number)
  return { number, url, title: '', openedAt, events: [], heads: [], landing, landed }
}

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
