import { type Instant, isoTime, nextMonthStart } from '../../domain/time.ts'
import type { PostgresDatabase } from './database.ts'

/**
 * Makes the partitions of `signals` that the months need, and of the month after each, so that it is there before its first
 * signal. Those it has seen cost nothing.
 */
export function monthPartitions(database: PostgresDatabase): (months: Iterable<Instant>) => Promise<void> {
  const ready = new Set<Instant>()
  return async (months) => {
    const missing = [...new Set(months)].filter((month) => !ready.has(month))
    if (missing.length === 0) return
    const wanted = new Set(missing.flatMap((month) => [month, nextMonthStart(month)]))
    await database.alone(async (client) => {
      for (const month of wanted) {
        const table = `signals_${isoTime(month).slice(0, 7).replace('-', '_')}`
        const { rows } = await client.query('select to_regclass($1) is not null as exists', [table])
        if (rows[0]?.exists) continue
        // Attached rather than created in place, which would have to wait for every reader and make every writer wait.
        await client.query('begin')
        await client.query(`create table ${table} (like signals including all)`)
        await client.query(
          `alter table signals attach partition ${table} for values from (${month}) to (${nextMonthStart(month)})`,
        )
        await client.query('commit')
      }
    })
    for (const month of missing) ready.add(month)
  }
}
