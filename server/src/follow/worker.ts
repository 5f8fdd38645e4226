import { setTimeout as pause } from 'node:timers/promises'
import { generateLeaseOwner, type Lease } from '../domain/repositories/lease.ts'
import type { OnCommits } from './record-commits.ts'
import { type Synced, sync } from './sync.ts'
import type { SyncContext } from './sync-context.ts'

export interface Worker {
  /** Syncs the repository now instead of at the next poll. */
  wake(id: number): void
  /** Resolves when no sync is in progress, or after 5 s. An interrupted sync resumes from what is stored. */
  stop(): Promise<void>
}

/** For a process that syncs only on request. */
export const idleWorker: Worker = { wake() {}, async stop() {} }

const hourMs = 3_600_000
const queuePollIntervalMs = 1_000
const maxConcurrentSyncs = 2
const leaseMs = 10_000
const leaseRenewalIntervalMs = 3_000
const deliveryRetentionMs = 30 * 24 * hourMs
const retryDelayMs = 10 * 60_000
const backfillRetryDelayMs = 60_000
const stopTimeoutMs = 5_000

/** Syncs repositories that are due. A lease ensures that only one process syncs a repository at a time. */
export function startWorker(context: SyncContext): Worker {
  const { store, clock, log } = context
  const running = new Map<number, Promise<void>>()
  const waiting = new Set<number>()
  let isStopped = false
  let polling: Promise<void> | null = null
  let cleanedUpAt = 0

  function start(id: number): void {
    if (isStopped) return
    if (running.has(id) || running.size >= maxConcurrentSyncs) {
      waiting.add(id)
      return
    }
    const run = syncOnce(context, id)
      .then(
        (synced) => {
          if (synced !== null && (synced.more || synced.dueAt <= clock())) waiting.add(id)
        },
        (error) => log.warn({ err: error, repository: id }, 'could not sync a repository'),
      )
      .finally(() => {
        running.delete(id)
        startNext()
      })
    running.set(id, run)
  }

  function startNext(): void {
    const next = [...waiting].find((id) => !running.has(id))
    if (next === undefined || running.size >= maxConcurrentSyncs) return
    waiting.delete(next)
    start(next)
  }

  async function poll(): Promise<void> {
    try {
      for (const id of await store.repositories.due(clock())) if (!running.has(id)) start(id)
      if (clock() - cleanedUpAt > hourMs) {
        cleanedUpAt = clock()
        await store.deliveries.deleteBefore(clock() - deliveryRetentionMs)
      }
    } catch (error) {
      log.warn({ err: error }, 'could not check for repositories to sync')
    }
  }

  const timer = setInterval(() => {
    polling ??= poll().finally(() => {
      polling = null
    })
  }, queuePollIntervalMs)

  return {
    wake: start,
    async stop() {
      isStopped = true
      clearInterval(timer)
      waiting.clear()
      await polling
      await Promise.race([Promise.all(running.values()), pause(stopTimeoutMs, undefined, { ref: false })])
    },
  }
}

/** Syncs the repository once. Null if another process holds the lease. Rejects, and stores the error, if the sync fails. */
export async function syncOnce(context: SyncContext, id: number, onCommits?: OnCommits): Promise<Synced | null> {
  const { store, clock } = context
  const now = clock()
  const lease = await store.repositories.lease(id, generateLeaseOwner(), now, leaseUntil(now))
  return lease === null ? null : syncWithLease(context, lease, onCommits)
}

/** Like `syncOnce`, for a caller that already holds the lease. */
export async function syncWithLease(context: SyncContext, lease: Lease, onCommits?: OnCommits): Promise<Synced> {
  const { store, clock } = context
  const renewal = setInterval(() => {
    // A lost lease shows when the sync stores its results.
    store.repositories.renew(lease, leaseUntil(clock())).catch(() => {})
  }, leaseRenewalIntervalMs)
  try {
    const synced = await sync(context, lease, onCommits)
    await store.repositories.release(lease, { dueAt: synced.dueAt, error: null, syncedAt: clock() })
    return synced
  } catch (error) {
    const delay = lease.repository.lastSyncAt === null ? backfillRetryDelayMs : retryDelayMs
    const outcome = { dueAt: clock() + delay, error: (error as Error).message, syncedAt: null }
    // If the database failed, the lease expires.
    await store.repositories.release(lease, outcome).catch(() => {})
    throw error
  } finally {
    clearInterval(renewal)
  }
}

const otherProcessTimeoutMs = 60_000
const leaseRetryIntervalMs = 100

/** Syncs until no delivery is left. Waits for up to 60 s if another process holds the lease. */
export async function syncUntilDone(context: SyncContext, id: number): Promise<void> {
  const deadline = performance.now() + otherProcessTimeoutMs
  for (;;) {
    const synced = await syncOnce(context, id)
    if (synced !== null && !synced.more) return
    if (performance.now() > deadline) throw new Error('The service is syncing this repository. Try again later')
    if (synced === null) await pause(leaseRetryIntervalMs)
  }
}

export function leaseUntil(now: number): number {
  return now + leaseMs
}
