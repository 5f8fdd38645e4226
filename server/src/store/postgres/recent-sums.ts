import { statement } from '../sql/database.ts'
import { addToSums } from '../sql/sum-changes.ts'
import type { PostgresDatabase } from './database.ts'

// Rows that a batch is changing at this moment are left for the next time.
const take = (table: string, condition: string, limit: number | null) => `
delete from ${table} where ctid = any(array(
  select ctid from ${table} where ${condition} limit ${limit} for update skip locked)) returning *`

const sum = (column: string) => `cast(sum(${column}) as bigint)`

const moveUsage = (condition: string, limit: number | null) => `
with moved as (${take('recent_usage', condition, limit)}),
added as (
  insert into signal_usage as usage (organisation_id, month, used)
  select organisation_id, month, ${sum('used')} from moved group by organisation_id, month order by organisation_id, month
  on conflict (organisation_id, month) do update set used = usage.used + excluded.used)
select count(*) as moved from moved`

const moveSums = (condition: string, limit: number | null) => `
with moved as (${take('recent_sums', condition, limit)}),
hours as (${addToSums(
  'signal_hours',
  `select organisation_id, prompt_id, hour, ${sum('positive')}, ${sum('negative')} from moved where version = ''
   group by organisation_id, prompt_id, hour order by organisation_id, prompt_id, hour`,
)} returning 1),
versions as (${addToSums(
  'version_hours',
  `select organisation_id, prompt_id, version, hour, ${sum('positive')}, ${sum('negative')} from moved
   where version <> '' and (select count(*) from hours) is not null
   group by organisation_id, prompt_id, version, hour order by organisation_id, prompt_id, version collate "C", hour`,
)})
select count(*) as moved from moved`

/** Statements that move what all processes have added to the sums that all share. */
export const moveAllRecent = [moveUsage('true', null), moveSums('true', null)]

// Each row that was moved is inserted again by the next batch, which costs more than adding to it.
const intervalMs = 10_000
// Batches that add to rows that are being moved wait for them. So it is done in parts, and not while an import holds the shared rows.
const partSize = 1_000
const lockTimeout = '100ms'

/** Where a process counts without waiting for others, and what moves its counts to the sums that all processes share. */
export interface RecentSums {
  /** The number of this process. Two with the same one would only wait for each other. */
  writer: number
  /** Moves them in a while. Does not wait. */
  recorded(): void
  /** Moves the rest. */
  close(): Promise<void>
}

export function recentSums(database: PostgresDatabase, writer: number): RecentSums {
  let moving: Promise<void> | null = null
  let timer: NodeJS.Timeout | null = null
  let hasRecorded = false
  let hasMovedAll = false

  /** False if they are read where they are until the next time. */
  async function moveParts(sql: string): Promise<boolean> {
    try {
      for (let moved = partSize; moved === partSize; ) {
        const [, rows] = await database.write([statement(`set local lock_timeout = '${lockTimeout}'`), statement(sql)])
        moved = Number(rows?.[0]?.moved)
      }
      return true
    } catch {
      return false
    }
  }

  async function move(): Promise<void> {
    const own = `writer = ${writer}`
    await moveParts(moveUsage(own, partSize))
    await moveParts(moveSums(own, partSize))
    if (hasMovedAll) return
    // Those of processes that have ended without moving theirs are moved by the next that starts.
    const [usage, sums] = [await moveParts(moveUsage('true', partSize)), await moveParts(moveSums('true', partSize))]
    hasMovedAll = usage && sums
  }

  function start(): void {
    timer = null
    moving = move().finally(() => {
      moving = null
    })
  }

  return {
    writer,
    recorded() {
      // Citus has one row for each sum, which the worker of the organisation changes.
      if (timer !== null || moving !== null || database.isDistributed) return
      timer = setTimeout(start, hasRecorded ? intervalMs : 0).unref()
      hasRecorded = true
    },
    async close() {
      if (timer !== null) clearTimeout(timer)
      await moving
      if (hasRecorded && !database.isDistributed) await move()
    },
  }
}
