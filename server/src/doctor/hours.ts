import { hour, isoTime } from '../domain/time.ts'
import type { DatabaseReader } from './database.ts'
import { type Finding, fail, listExamples, ok } from './finding.ts'

const maxExamples = 3

/** Since the start of retention, hourly sums equal the stored signals. Before it, they may exceed them. */
export async function checkHours(database: DatabaseReader): Promise<Finding> {
  // The unary plus keeps SQLite from using an index whose order would cause random reads of the table.
  const rows = await database.rows(`
    with counted as (
      select +organisation_id as organisation_id, +prompt_id as prompt_id, created_at - created_at % ${hour} as hour,
        sum(case value when 'positive' then 1 else 0 end) as positive,
        sum(case value when 'negative' then 1 else 0 end) as negative
      from signals group by 1, 2, 3),
    compared as (
      select coalesce(h.organisation_id, c.organisation_id) as organisation_id,
        coalesce(h.prompt_id, c.prompt_id) as prompt_id, coalesce(h.hour, c.hour) as hour,
        coalesce(h.positive, 0) as positive, coalesce(h.negative, 0) as negative,
        coalesce(c.positive, 0) as positive_stored, coalesce(c.negative, 0) as negative_stored
      from signal_hours h full join counted c
        on c.organisation_id = h.organisation_id and c.prompt_id = h.prompt_id and c.hour = h.hour)
    select compared.*, count(*) over () as total from compared
    where positive < positive_stored or negative < negative_stored
      or (hour >= (select kept_since from signal_retention)
        and (positive <> positive_stored or negative <> negative_stored))
    order by organisation_id, prompt_id, hour limit ${maxExamples}`)
  if (rows.length === 0) return ok('hours', 'the hourly sums match the stored signals')
  const examples = rows.map(
    (row) =>
      `organisation ${row.organisation_id}, prompt ${row.prompt_id}, ${isoTime(row.hour as number)}: ` +
      `${row.positive} positive and ${row.negative} negative in the sum, ` +
      `${row.positive_stored} and ${row.negative_stored} stored`,
  )
  const message = listExamples(examples, rows[0]?.total as number)
  return fail('hours', message, 'Recompute the sums of these hours: docs/operations/doctor.md#hours')
}
