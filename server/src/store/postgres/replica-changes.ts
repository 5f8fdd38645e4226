import { type GroupCommit, groupCommit } from '../group-commit.ts'
import type { PostgresDatabase } from './database.ts'

// How long the caches may lag behind changes by other processes. This process sees its own changes at once.
const maxCacheLagMs = 5

// Every request starts with this query, which takes about 1 ms on a healthy server.
const responseTimeoutMs = 5_000

/**
 * Clears the caches if another process has changed something, so that a key which is revoked on one replica is rejected by all of
 * them. Requests that arrive together share one check.
 */
export function checkForReplicaChanges(database: PostgresDatabase, clearCaches: () => void): GroupCommit<void, void> {
  let seenChanges: unknown
  let checkedAt = Number.NEGATIVE_INFINITY
  return groupCommit<void, void>(async (waiting) => {
    const now = performance.now()
    if (now - checkedAt >= maxCacheLagMs) {
      const [row] = await withTimeout(database.rows('select changes from change_counter'))
      if (row?.changes !== seenChanges) {
        clearCaches()
        await withTimeout(database.noticeDistribution())
      }
      seenChanges = row?.changes
      checkedAt = now
    }
    return waiting
  })
}

/** Rejects if the server has stopped responding. The connection is closed later, because other queries may take longer. */
export async function withTimeout<T>(response: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    const error = () => reject(new Error(`PostgreSQL has not responded for ${responseTimeoutMs / 1_000} s`))
    timer = setTimeout(error, responseTimeoutMs)
  })
  try {
    return await Promise.race([response, timeout])
  } finally {
    clearTimeout(timer)
  }
}
