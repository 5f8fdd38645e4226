import type { Lease } from '../repositories/lease.ts'
import type { Repository } from '../repositories/repository.ts'
import type { Instant } from '../time.ts'
import type { Place } from './live-line.ts'

/** What a sync found out about a commit. */
export interface FoundPlace {
  /** The commit as it was reported, full or abbreviated. */
  commit: string
  /** False if the line of the default branch does not have it, or has several commits that start like it. */
  located: boolean
  /** The newest commit at or before it that changed a prompt; null if none did. */
  anchor: string | null
}

/** Where commits are on the line of the default branch, which only a sync can find out: most change no prompt. */
export interface CommitPlaces {
  /** The places of these commits. Those that are not known to be on the line are omitted. */
  places(organisationId: number, repositoryId: number, commits: string[]): Promise<Map<string, Place>>
  /** The newest located commits whose last change of a prompt is at or after this position. */
  placesFrom(organisationId: number, repositoryId: number, seq: number): Promise<Place[]>
  /**
   * The commits of production deployments that the line has not been searched for, or that a newer `tip` may have brought, and those
   * that run in other environments and have not been searched for.
   */
  unlocatedDeployments(repository: Repository, tip: string, now: Instant, limit: number): Promise<string[]>
  /**
   * The newest commits that signals since this time name as their version, and that the line has not been searched for, or
   * that a newer `tip` may have brought.
   */
  unlocatedVersions(repository: Repository, tip: string, since: Instant, limit: number): Promise<string[]>
  /** Which of these commits changed a prompt. */
  changedPrompts(repository: Repository, commits: string[]): Promise<Set<string>>
  /** Rejects, changing nothing, if the lease was lost. */
  recordPlaces(lease: Lease, places: FoundPlace[], tip: string, at: Instant): Promise<void>
}
