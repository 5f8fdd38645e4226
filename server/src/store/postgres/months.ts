import { type Instant, isoTime, nextMonthStart } from '../../domain/time.ts'
import type { PostgresDatabase } from './database.ts'

/** Makes the partitions of `signals` that the months need. Those it has seen cost nothing. */
export function monthPartitions(database: PostgresDatabase): (months: Iterable<Instant>) => Promise<void> {
  const ready = new Set<Instant>()
  return async (months) => {
    const missing = [...new Set(months)].filter((month) => !ready.has(month))
    if (missing.length === 0) return
    await database.alone(async (client) => {
      for (const month of missing) {
        const table = `signals_${isoTime(month).slice(0, 7).replace('-', '_')}`
        await client.query(
          `create table if not exists ${table} partition of signals for values from (${month}) to (${nextMonthStart(month)})`,
        )
      }
    })
    for (const month of missing) ready.add(month)
  }
}
