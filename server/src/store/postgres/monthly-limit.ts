import type { SignalToRecord } from '../../domain/signals/signal.ts'
import { type Instant, monthStart } from '../../domain/time.ts'
import type { PostgresDatabase } from './database.ts'

/**
 * Enforces the monthly limit. This CTE of the batch statement (record-statement.ts) adds the new signals of each organisation
 * and month to its usage if all of them fit, and otherwise none. It returns a row only where they fit, and the rest of the
 * statement stores the signals of those rows alone. `counts` has the rows with what to add.
 *
 * The limit is exact across processes: the upsert locks the row of signal_usage until the transaction ends, and PostgreSQL
 * checks the `where` against the latest committed `used`. Concurrent batches of one organisation therefore take turns, and
 * none can raise `used` above the limit. The first `where` covers the first batch of a month, which inserts the row. All signals of an
 * organisation in one statement have the same limit; null is none.
 */
export const reserveUsage = (counts: string) =>
  `
reserved as (
  insert into signal_usage as usage (organisation_id, month, used, month_limit)
  select organisation_id, month, signals, month_limit from ${counts}
  where month_limit is null or signals <= month_limit order by organisation_id, month
  on conflict (organisation_id, month) do update
    set used = usage.used + excluded.used, month_limit = excluded.month_limit
    where excluded.month_limit is null or usage.used + excluded.used <= excluded.month_limit
  returning organisation_id, month, used
)`.trim()

/** Usage that was reserved, with the organisation's count for the month. */
export interface ReservedUsage {
  organisation: number
  month: Instant
  used: number
}

/** The column of the result that returns `ReservedUsage`, because all signals of an organisation and month fit or none does. */
export const reservedResult = `(select json_agg(json_build_object('organisation', organisation_id, 'month', month, 'used', used))
    from reserved) as reserved`

/** The count of the signal's organisation and month if its usage was reserved. */
export function usedBy(reserved: ReservedUsage[] | null): (signal: SignalToRecord) => number | undefined {
  const used = new Map((reserved ?? []).map(({ organisation, month, used }) => [`${organisation} ${month}`, used]))
  return (signal) => used.get(usageKey(signal))
}

/** How many signals still fit, by `usageKey`, for organisations whose batch was larger than that. */
export type Remaining = Map<string, number>

/** Identifies the usage row that the signal counts towards. */
export function usageKey({ organisationId, createdAt }: SignalToRecord): string {
  return `${organisationId} ${monthStart(createdAt)}`
}

export async function findUsed(
  database: PostgresDatabase,
  { organisationId, createdAt }: SignalToRecord,
): Promise<number> {
  const sql = 'select used from signal_usage where organisation_id = ? and month = ?'
  const [row] = await database.rows(sql, [organisationId, monthStart(createdAt)])
  return (row?.used ?? 0) as number
}
