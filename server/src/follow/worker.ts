import { setTimeout as pause } from 'node:timers/promises'
import { type DueRepository, generateLeaseOwner, type Lease, LostLeaseError } from '../domain/repositories/lease.ts'
import { checkConnected, type Repository } from '../domain/repositories/repository.ts'
import { InterruptedError, interruptible } from '../git/run.ts'
import type { OnCommits } from './record-commits.ts'
import { type Synced, sync } from './sync.ts'
import type { SyncContext } from './sync-context.ts'
import { createSyncQueue } from './sync-queue.ts'

export interface Worker {
  /** False in a process that syncs only on request. */
  readonly isActive: boolean
  /** Syncs the repository now instead of at the next poll. */
  wake(repository: DueRepository): void
  /** Resolves when no sync is in progress, or after 5 s. An interrupted sync resumes from its last stored step. */
  stop(): Promise<void>
}

/** For a process that syncs only on request. */
export const idleWorker: Worker = { isActive: false, wake() {}, async stop() {} }

const hourMs = 3_600_000
const queuePollIntervalMs = 1_000
// Much longer than between two renewals: on a busy machine, timers come late. After a crash, its repositories wait for as long.
const leaseMs = 20_000
const leaseRenewalIntervalMs = 3_000
const deliveryRetentionMs = 30 * 24 * hourMs
const retryDelayMs = 10 * 60_000
const backfillRetryDelayMs = 60_000
const stopTimeoutMs = 5_000
// While the service was stopped, deliveries may have been lost. Spread out, so that a start does not contact every server at once.
const startSpread = { slots: 64, intervalMs: 250 }

/** Syncs repositories that are due. A lease ensures that only one process syncs a repository at a time. */
export function startWorker(context: SyncContext): Worker {
  const { store, clock, log } = context
  const queue = createSyncQueue(context.limits.concurrentSyncs)
  const running = new Set<Promise<void>>()
  const interrupts = new Map<number, AbortController>()
  let isStopped = false
  let polling: Promise<void> | null = null
  let cleanedUpAt = 0
  let hasWokenAll = false

  function wake(repository: DueRepository): void {
    if (isStopped) return
    queue.add(repository)
    startNext()
  }

  function startNext(): void {
    for (let next = queue.take(); next !== null; next = queue.take()) start(next)
  }

  function start(repository: DueRepository): void {
    const interrupt = new AbortController()
    interrupts.set(repository.id, interrupt)
    const run = interruptible(interrupt.signal, () => syncOnce(context, repository.id))
      .then(
        (synced) => {
          if (!isStopped && synced !== null && (synced.more || synced.dueAt <= clock())) queue.add(repository)
        },
        (error) => {
          if (error instanceof InterruptedError)
            log.info({ repository: repository.id }, 'a slow sync made room for others')
          else log.warn({ err: error, repository: repository.id }, 'could not sync a repository')
        },
      )
      .finally(() => {
        running.delete(run)
        interrupts.delete(repository.id)
        queue.finish(repository)
        startNext()
      })
    running.add(run)
  }

  async function poll(): Promise<void> {
    try {
      if (!hasWokenAll) await store.repositories.wakeAll(clock(), startSpread)
      hasWokenAll = true
      for (const due of await store.repositories.due(clock())) if (!queue.isRunning(due.id)) wake(due)
      if (clock() - cleanedUpAt > hourMs) {
        cleanedUpAt = clock()
        await store.deliveries.deleteBefore(clock() - deliveryRetentionMs)
      }
    } catch (error) {
      log.warn({ err: error }, 'could not check for repositories to sync')
    }
  }

  const timer = setInterval(() => {
    for (const id of queue.inTheWay()) interrupts.get(id)?.abort()
    polling ??= poll().finally(() => {
      polling = null
    })
  }, queuePollIntervalMs)

  return {
    isActive: true,
    wake,
    async stop() {
      isStopped = true
      clearInterval(timer)
      queue.clear()
      await polling
      await Promise.race([Promise.all(running), pause(stopTimeoutMs, undefined, { ref: false })])
    },
  }
}

/** Syncs the repository once. Null if another process holds the lease. Rejects, and stores the error, if the sync fails. */
export async function syncOnce(context: SyncContext, id: number): Promise<Synced | null> {
  const { store, clock } = context
  const now = clock()
  const lease = await store.repositories.lease(id, generateLeaseOwner(), now, leaseUntil(now))
  if (lease === null) return null
  return syncWithLease(context, lease).catch((error) => {
    if (error instanceof LostLeaseError) return null
    throw error
  })
}

/** Like `syncOnce`, for a caller that already holds the lease. */
export async function syncWithLease(context: SyncContext, lease: Lease, onCommits?: OnCommits): Promise<Synced> {
  const { store, clock } = context
  const renewal = setInterval(() => {
    // A lost lease shows when the sync stores its results. One that has expired is renewed unless another process has taken it.
    store.repositories.renew(lease, leaseUntil(clock())).catch(() => {})
  }, leaseRenewalIntervalMs)
  try {
    const synced = await sync(context, lease, onCommits)
    // Without a fetch, the server may still be failing.
    const outcome = synced.fetched
      ? { error: null, syncedAt: clock() }
      : { error: lease.repository.lastError, syncedAt: null }
    await store.repositories.release(lease, { dueAt: synced.dueAt, ...outcome })
    return synced
  } catch (error) {
    const { lastSyncAt, lastError } = lease.repository
    const delay = lastSyncAt === null ? backfillRetryDelayMs : retryDelayMs
    const outcome =
      error instanceof InterruptedError
        ? { dueAt: clock(), error: lastError, syncedAt: null }
        : { dueAt: clock() + delay, error: (error as Error).message, syncedAt: null }
    // If the database failed, the lease expires.
    await store.repositories.release(lease, outcome).catch(() => {})
    throw error
  } finally {
    clearInterval(renewal)
  }
}

const otherProcessTimeoutMs = 60_000
const leaseRetryIntervalMs = 100
const syncTimeoutMs = 30 * 60_000

/**
 * Syncs until no delivery is left. Waits for up to 60 s in all while another process holds the lease. Starts no sync after 30 minutes,
 * because deliveries may arrive faster than they are processed.
 */
export async function syncUntilDone(context: SyncContext, id: number, timeoutMs = syncTimeoutMs): Promise<void> {
  const startedAt = performance.now()
  for (let waitedMs = 0; waitedMs < otherProcessTimeoutMs; ) {
    const synced = await syncOnce(context, id)
    if (synced !== null && !synced.more) return
    if (synced === null) checkConnected((await context.store.repositories.find(id)) as Repository)
    if (performance.now() - startedAt >= timeoutMs) {
      throw new Error('Deliveries are left after 30 minutes of syncing. Sync the repository again')
    }
    // Only waiting counts: on a busy machine, the syncs of this process may take longer.
    if (synced === null) await pause(leaseRetryIntervalMs)
    waitedMs += synced === null ? leaseRetryIntervalMs : 0
  }
  throw new Error('The service is syncing this repository. Try again later')
}

export function leaseUntil(now: number): number {
  return now + leaseMs
}
