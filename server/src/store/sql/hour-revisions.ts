import { dayStart, hour, type Instant } from '../../domain/time.ts'
import { type ColumnTypes, type Database, type Statement, statement } from './database.ts'

/** Hourly sums before this time change only together with the revision of their prompt, so they can be remembered. */
export function closedUntil(now: Instant): Instant {
  return dayStart(now - 3 * hour)
}

/**
 * Whether a signal of this time changes sums that are closed already, or soon will be. Two hours earlier than they are, because
 * the clocks of processes may differ.
 */
export function changesClosed(at: Instant, now: Instant): boolean {
  return at < dayStart(now - hour)
}

/** The revision of a prompt, for a statement with the organisation as its parameter. `prompt` is an expression. */
export function revisionOf(prompt: string): string {
  return `coalesce((select revision from hour_revisions where organisation_id = ? and prompt_id = ${prompt}), 0)`
}

/** What follows an insert into hour_revisions of rows with the revision 1. */
export const increaseRevision = `on conflict (organisation_id, prompt_id) do update set revision = hour_revisions.revision + 1`

const columns: ColumnTypes = { prompt: 'bigint' }

/** Runs after the changes to sums, in the same order as everyone else, which prevents deadlocks. */
export function increaseRevisions(database: Database, organisationId: number, promptIds: Iterable<number>): Statement {
  const records = [...new Set(promptIds)].map((prompt) => ({ prompt }))
  return statement(
    `insert into hour_revisions (organisation_id, prompt_id, revision)
     select cast(? as bigint), prompt, 1 from ${database.jsonRecords(columns)} where true order by prompt ${increaseRevision}`,
    [organisationId, JSON.stringify(records)],
  )
}
