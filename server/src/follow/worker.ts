import { setTimeout as pause } from 'node:timers/promises'
import { type Lease, newLeaseOwner } from '../domain/repositories/repository.ts'
import { type Synced, sync } from './sync.ts'
import type { SyncContext } from './sync-context.ts'
import type { OnCommits } from './sync-run.ts'

export interface Worker {
  /** Works on the repository now rather than at the next look. */
  wake(id: number): void
  /** Resolves once nothing is under way, or what is has had its time: whoever works on goes on from what is stored. */
  stop(): Promise<void>
}

const lookEvery = 1_000
const atOnce = 2
const leaseFor = 10_000
const renewEvery = 3_000
const hour = 3_600_000
const keepDeliveriesFor = 30 * 24 * hour
const pauseAfterFailure = 10 * 60_000
const pauseWhileConnecting = 60_000
const patience = 5_000

/** Works on repositories that have something to do, each by one process at a time. */
export function startWorker(follow: SyncContext): Worker {
  const { store, clock, log } = follow
  const running = new Map<number, Promise<void>>()
  const again = new Set<number>()
  let stopped = false
  let looking: Promise<void> | null = null
  let tidiedAt = 0

  function start(id: number): void {
    if (stopped) return
    if (running.has(id) || running.size >= atOnce) {
      again.add(id)
      return
    }
    const run = syncOnce(follow, id)
      .then(
        (done) => {
          if (done !== null && (done.more || done.dueAt <= clock())) again.add(id)
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
    const next = [...again].find((id) => !running.has(id))
    if (next === undefined || running.size >= atOnce) return
    again.delete(next)
    start(next)
  }

  async function look(): Promise<void> {
    try {
      for (const id of await store.repositories.due(clock())) if (!running.has(id)) start(id)
      if (clock() - tidiedAt > hour) {
        tidiedAt = clock()
        await store.deliveries.deleteBefore(clock() - keepDeliveriesFor)
      }
    } catch (error) {
      log.warn({ err: error }, 'could not look for repositories to sync')
    }
  }

  const looks = setInterval(() => {
    looking ??= look().finally(() => {
      looking = null
    })
  }, lookEvery)

  return {
    wake: start,
    async stop() {
      stopped = true
      clearInterval(looks)
      again.clear()
      await looking
      await Promise.race([Promise.all(running.values()), pause(patience, undefined, { ref: false })])
    },
  }
}

/**
 * Syncs the repository once; null where another process is at it. Rejects where
 * it failed, which is also noted with the repository.
 */
export async function syncOnce(follow: SyncContext, id: number, onCommits?: OnCommits): Promise<Synced | null> {
  const { store, clock } = follow
  const now = clock()
  const lease = await store.repositories.lease(id, newLeaseOwner(), now, now + leaseFor)
  return lease === null ? null : syncWithLease(follow, lease, onCommits)
}

/** The same for whoever holds the lease already. */
export async function syncWithLease(follow: SyncContext, lease: Lease, onCommits?: OnCommits): Promise<Synced> {
  const { store, clock } = follow
  const renewing = setInterval(() => {
    // A lease that is lost is noticed when something is to be stored.
    store.repositories.renew(lease, clock() + leaseFor).catch(() => {})
  }, renewEvery)
  try {
    const synced = await sync(follow, lease, onCommits)
    await store.repositories.release(lease, { dueAt: synced.dueAt, error: null, syncedAt: clock() })
    return synced
  } catch (error) {
    const pause = lease.repository.lastSyncAt === null ? pauseWhileConnecting : pauseAfterFailure
    const outcome = { dueAt: clock() + pause, error: (error as Error).message, syncedAt: null }
    // Where the database is what failed, the lease runs out by itself.
    await store.repositories.release(lease, outcome).catch(() => {})
    throw error
  } finally {
    clearInterval(renewing)
  }
}

export function leaseUntil(now: number): number {
  return now + leaseFor
}
