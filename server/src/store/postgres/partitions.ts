import { type Instant, isoTime, nextMonthStart } from '../../domain/time.ts'
import type { PostgresDatabase } from './database.ts'

export type CreatePartitions = (months: Iterable<Instant>) => Promise<void>

/** `recheck` ignores which months are known to have a partition. */
export type PreparePartitions = (months: Iterable<Instant>, recheck?: boolean) => Promise<void>

/** The table that holds the signals of a month. Names sort in order of time. */
export function partitionName(month: Instant): string {
  return `signals_${isoTime(month).slice(0, 7).replace('-', '_')}`
}

/**
 * Creates the partitions of `signals` for the given months and for the month after each, so a new month has one before its
 * first signal.
 */
export function partitionCreator(database: PostgresDatabase): CreatePartitions {
  return async (months) => {
    const needed = new Set([...months].flatMap((month) => [month, nextMonthStart(month)]))
    await database.withLock(async (client) => {
      for (const month of needed) {
        const table = partitionName(month)
        const { rows } = await client.query('select to_regclass($1) is not null as exists', [table])
        if (rows[0]?.exists) continue
        // Attaching takes a weaker lock than creating in place, which would wait for all readers and block all writers.
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

/** Remembers which months have a partition, so recording does not check again. Only a clock change can make this wrong. */
export function skippingKnownMonths(create: CreatePartitions): PreparePartitions {
  const ready = new Set<Instant>()
  return async (months, recheck = false) => {
    if (recheck) ready.clear()
    const missing = [...new Set(months)].filter((month) => !ready.has(month))
    if (missing.length === 0) return
    await create(missing)
    for (const month of missing) ready.add(month)
  }
}
