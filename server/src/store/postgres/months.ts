import { type Instant, isoTime, nextMonthStart } from '../../domain/time.ts'
import type { PostgresDatabase } from './database.ts'

export type MakeMonths = (months: Iterable<Instant>) => Promise<void>

/** `again`: although they were there before. */
export type PrepareMonths = (months: Iterable<Instant>, again?: boolean) => Promise<void>

/** The table that holds the signals of a month. In the order of their names they are in the order of time. */
export function partitionOf(month: Instant): string {
  return `signals_${isoTime(month).slice(0, 7).replace('-', '_')}`
}

/**
 * Makes the partitions of `signals` that the months need, and of the month after each, so that it is there before its first
 * signal.
 */
export function monthPartitions(database: PostgresDatabase): MakeMonths {
  return async (months) => {
    const wanted = new Set([...months].flatMap((month) => [month, nextMonthStart(month)]))
    await database.alone(async (client) => {
      for (const month of wanted) {
        const table = partitionOf(month)
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
  }
}

/** The same for those who record now: months that were seen before cost nothing, and are not dropped unless the clock jumps. */
export function onceEach(prepare: MakeMonths): PrepareMonths {
  const ready = new Set<Instant>()
  return async (months, again = false) => {
    if (again) ready.clear()
    const missing = [...new Set(months)].filter((month) => !ready.has(month))
    if (missing.length === 0) return
    await prepare(missing)
    for (const month of missing) ready.add(month)
  }
}
