import type { PostgresDatabase } from './database.ts'

const blockSize = 1_024
// The index on IDs stays small because IDs follow time. An idle process therefore discards old IDs instead of using them late.
const maxAgeMs = 10_000

interface SignalIds {
  reserve(count: number): Promise<number[]>
  /** Drops reserved IDs. After a failover, the server may not know that it has handed them out. */
  discard(): void
}

/**
 * Reserves signal IDs before the signals are stored. If the connection breaks before PostgreSQL responds, a signal can then be
 * looked up by its ID.
 */
export function signalIds(database: PostgresDatabase): SignalIds {
  let reserved: number[] = []
  let reservedAt = 0

  function discard(): void {
    reserved = []
  }

  return {
    async reserve(count) {
      if (performance.now() - reservedAt > maxAgeMs) discard()
      while (reserved.length < count) {
        const rows = await database.query(`select nextval('signal_ids') as id from generate_series(1, ${blockSize})`)
        reserved.push(...rows.map(({ id }) => id as number))
        reservedAt = performance.now()
      }
      return reserved.splice(0, count)
    },
    discard,
  }
}
