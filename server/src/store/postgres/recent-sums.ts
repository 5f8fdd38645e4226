import { addToSums } from '../sql/sum-changes.ts'
import type { PostgresDatabase } from './database.ts'

// Rows that a batch is changing at this moment are left for the next time.
const take = (table: string, condition: string) =>
  `delete from ${table} where ctid = any(array(select ctid from ${table} where ${condition} for update skip locked)) returning *`

const sum = (column: string) => `cast(sum(${column}) as bigint)`

const moveUsage = (condition: string) => `
with moved as (${take('recent_usage', condition)})
insert into signal_usage as usage (organisation_id, month, used)
select organisation_id, month, ${sum('used')} from moved group by organisation_id, month order by organisation_id, month
on conflict (organisation_id, month) do update set used = usage.used + excluded.used`

const moveSums = (condition: string) => `
with moved as (${take('recent_sums', condition)}),
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
select 1`

/** Statements that move what all processes have added to the sums that all share. */
export const moveAllRecent = [moveUsage('true'), moveSums('true')]

// Each row that was moved is inserted again by the next batch, which costs more than adding to it.
const intervalMs = 10_000

/** Where a process counts without waiting for others, and what moves its counts to the sums that all processes share. */
export interface RecentSums {
  /** The number of this process. Two with the same one would only wait for each other. */
  writer: number
  /** Moves them if that is due. Does not wait. */
  recorded(): void
  /** Moves the rest. */
  close(): Promise<void>
}

export function recentSums(database: PostgresDatabase, writer: number): RecentSums {
  let moving: Promise<void> | null = null
  let movedAt = Number.NEGATIVE_INFINITY
  let isFirst = true

  async function move(): Promise<void> {
    // Those of processes that have ended without moving theirs are moved by the next that starts.
    const condition = isFirst ? 'true' : `writer = ${writer}`
    try {
      for (const sql of [moveUsage(condition), moveSums(condition)]) await database.query(sql)
      isFirst = false
    } catch {
      // They are read where they are, and moved next time.
    }
  }

  return {
    writer,
    recorded() {
      // Citus has one row for each sum, which the worker of the organisation changes.
      if (database.isDistributed || moving !== null || performance.now() - movedAt < intervalMs) return
      movedAt = performance.now()
      moving = move().finally(() => {
        moving = null
      })
    },
    async close() {
      await moving
      if (!isFirst && !database.isDistributed) await move()
    },
  }
}
