import { randomBase62 } from '../random.ts'
import { hour, type Instant, minute } from '../time.ts'
import type { Repository } from './repository.ts'

/** The exclusive right to sync a repository, until it expires. */
export interface Lease {
  repository: Repository
  owner: string
}

/** A repository to sync, with its owner, so that organisations can take turns. */
export type DueRepository = Pick<Repository, 'id' | 'organisationId'>

/** Another process has taken the lease, or the repository was disconnected. Nothing more may be stored with this one. */
export class LostLeaseError extends Error {
  constructor() {
    super('Lost the lease: another process took over the repository, or it was disconnected')
  }
}

export interface LeaseStore {
  /**
   * Connected repositories that are due for a sync and not leased: the longest overdue of each organisation, then the second
   * of each, and so on.
   */
  due(now: Instant): Promise<DueRepository[]>
  /** Null if another worker holds the lease. */
  lease(id: number, owner: string, now: Instant, until: Instant): Promise<Lease | null>
  /** False if another process has taken the lease. One that expired meanwhile is renewed, too. */
  renew(lease: Lease, until: Instant): Promise<boolean>
  /** Ends the lease and records the outcome: when the next sync is due and why this one failed, if it did. */
  release(lease: Lease, outcome: { dueAt: Instant; error: string | null; syncedAt: Instant | null }): Promise<void>
}

/** Unique per worker, so a worker can tell that it lost its lease to another. */
export function generateLeaseOwner(): string {
  return randomBase62(16)
}

/**
 * How far ahead each kind of due time is ever set. A time further ahead was set before the clock went back and counts as due,
 * so work is not put off until the clock catches up.
 */
export const maxFuture = { lease: minute, sync: 2 * hour, attempt: 24 * hour }

/** Whether the repository is due for a sync. */
export function isDue({ dueAt }: Pick<Repository, 'dueAt'>, now: Instant): boolean {
  return dueAt <= now || dueAt > now + maxFuture.sync
}
