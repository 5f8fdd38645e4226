// What the organisation recorded without a limit before it got one.
const recent = (of: string) =>
  `(select coalesce(sum(r.used), 0)::bigint from recent_usage r where r.organisation_id = ${of}.organisation_id and r.month = ${of}.month)`

/**
 * Enforces the monthly limit. Adds the new signals of each organisation to its usage if all of them fit, and otherwise none, and returns
 * the organisations where they fit. The rest of the statement (record-statement.ts) stores the signals of those alone. `input` has
 * the rows to add.
 *
 * The limit is exact across processes: the upsert locks the row of signal_usage until the transaction ends, and PostgreSQL
 * checks the `where` against the latest committed `used`. Concurrent batches of one organisation therefore take turns, and
 * none can raise `used` above the limit. The first `where` covers the first batch of a month, which inserts the row. Organisations
 * without a limit are not counted here, so that they do not wait (recent-sums.ts).
 *
 * Organisations that have recorded without a limit before are left out, unless the statement `addsRecent`. Hardly any has, and adding
 * up what they recorded doubles the time of the statement: PostgreSQL then plans it again each time.
 */
export function reserveUsage(input: string, condition: string, addsRecent: boolean): string {
  const plusRecent = (of: string) => (addsRecent ? ` + ${recent(of)}` : '')
  const hasNone = `not exists (
    select from recent_usage r where r.organisation_id = input.organisation_id and r.month = input.month)`
  return `insert into signal_usage as usage (organisation_id, month, used, month_limit)
  select organisation_id, month, signals, month_limit from ${input}
  where signals > 0 and signals${plusRecent('input')} <= month_limit and ${addsRecent ? 'true' : hasNone} and ${condition}
  order by organisation_id
  on conflict (organisation_id, month) do update
    set used = usage.used + excluded.used, month_limit = excluded.month_limit
    where usage.used + excluded.used${plusRecent('excluded')} <= excluded.month_limit
  returning organisation_id, used${plusRecent('usage')} as used`
}
