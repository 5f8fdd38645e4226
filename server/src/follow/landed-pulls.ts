import type { Edit } from '../domain/history/edit.ts'
import type { Pull } from '../domain/history/pull.ts'
import type { Repository } from '../domain/repositories/repository.ts'
import { webUrlOf } from '../domain/repositories/repository-url.ts'
import type { Instant } from '../domain/time.ts'
import { forgeOf } from '../forges/index.ts'
import type { Commit } from '../git/commit.ts'
import type { Claim, PullClaims } from './pull-claims.ts'
import { branchBudgetOf, readPullEvidence } from './pull-evidence.ts'
import type { SyncRun } from './sync-run.ts'

export type PullOfCommit = Pick<Edit, 'pull' | 'mergeReference'>

/** The pull requests that git proves to have landed. Nothing is read before the first commit asks. */
export interface LandedPulls {
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
export function pullOf(repository: Repository, { number, landing, landed }: Claim, openedAt: Instant): Pull {
  const url = webUrlOf(repository) + forgeOf(repository.forge).pullPath(number)
  return { number, url, title: '', openedAt, events: [], heads: [], landing, landed }
}
