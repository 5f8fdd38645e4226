import { type GroupCommit, groupCommit } from '../group-commit.ts'
import type { PostgresDatabase } from './database.ts'

// How long the caches may lag behind changes by other processes. This process sees its own changes at once.
const maxCacheLagMs = 10
// Under load the next check starts early, so that no request waits for it.
const checkEveryMs = 5

// Every request starts with this query, which takes about 1 ms on a healthy server.
const responseTimeoutMs = 5_000

/**
 * Clears the caches if another process has changed something, so that a key which is revoked on one replica is rejected by all of
 * them. Requests that arrive together share one check.
 */
export function checkForReplicaChanges(database: PostgresDatabase, clearCaches: () => void): GroupCommit<void, void> {
  let seenChanges: unknown
  let checkedAt = Number.NEGATIVE_INFINITY
  let checking: Promise<void> | null = null

  async function readChanges(): Promise<void> {
    const startedAt = performance.now()
    try {
      const [row] = await withTimeout(database.rows('select changes from change_counter'))
      if (row?.changes !== seenChanges) {
        clearCaches()
        await withTimeout(database.noticeDistribution())
      }
      seenChanges = row?.changes
      checkedAt = startedAt
    } finally {
      checking = null
    }
  }

  function check(): Promise<void> {
    checking ??= readChanges()
    return checking
  }

  return groupCommit<void, void>(async (waiting) => {
    const now = performance.now()
    // The check in flight may have started too long ago.
    while (now - checkedAt >= maxCacheLagMs) await check()
    // If it fails, so does the next request that has to wait for one.
    if (now - checkedAt >= checkEveryMs) check().catch(() => {})
    return waiting
  })
}

/** Rejects if the server has stopped responding. The connection is closed later, because other queries may take longer. */
export function withTimeout<T>(response: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const error = () => reject(new Error(`PostgreSQL has not responded for ${responseTimeoutMs / 1_000} s`))
    const timer = setTimeout(error, responseTimeoutMs)
    const then =
      <V>(settle: (value: V) => void) =>
      (value: V) => {
        clearTimeout(timer)
        settle(value)
      }
    response.then(then(resolve), then(reject))
  })
}
