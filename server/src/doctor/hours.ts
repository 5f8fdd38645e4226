import { hour, isoTime } from '../domain/time.ts'
import type { DatabaseReader } from './database.ts'
import { type Finding, fail, listExamples, maxExamples, ok, oneLine } from './finding.ts'

/** Hourly sums: of each prompt, or of each version of it. */
interface Sums {
  view: 'hour_sums' | 'version_sums'
  /** The columns that identify a sum, beside the hour. */
  keys: string[]
  condition: string
}

/** Since the start of retention, hourly sums equal the stored signals. Before it, they may exceed them. */
export function checkHours(database: DatabaseReader): Promise<Finding> {
  const keys = ['organisation_id', 'prompt_id']
  return compare(database, { view: 'hour_sums', keys, condition: 'true' }, 'hours', 'the hourly sums')
}

export function checkVersions(database: DatabaseReader): Promise<Finding> {
  const keys = ['organisation_id', 'prompt_id', 'version']
  const sums: Sums = { view: 'version_sums', keys, condition: 'version is not null' }
  return compare(database, sums, 'versions', 'the sums of each version')
}

async function compare(
  database: DatabaseReader,
  { view, keys, condition }: Sums,
  check: string,
  what: string,
): Promise<Finding> {
  // The unary plus keeps SQLite from using an index whose order would cause random reads of the table.
  const counted = keys.map((key) => (key === 'version' ? key : `+${key} as ${key}`)).join(', ')
  const groups = [...keys, 'hour'].map((_, i) => i + 1).join(', ')
  // One group for both sides: SQLite compares every row with every other in a full join of two sums.
  const rows = await database.rows(`
    with sides as (
      select ${[...keys, 'hour'].join(', ')}, positive, negative, 0 as positive_stored, 0 as negative_stored from ${view}
      union all
      select ${counted}, created_at - created_at % ${hour}, 0, 0,
        case value when 'positive' then 1 else 0 end, case value when 'negative' then 1 else 0 end
      from signals where ${condition}),
    compared as (
      select ${[...keys, 'hour'].join(', ')}, sum(positive) as positive, sum(negative) as negative,
        sum(positive_stored) as positive_stored, sum(negative_stored) as negative_stored
      from sides group by ${groups})
    select compared.*, count(*) over () as total from compared
    where positive < positive_stored or negative < negative_stored
      or (hour >= (select kept_since from signal_retention)
        and (positive <> positive_stored or negative <> negative_stored))
    order by ${keys.join(', ')}, hour limit ${maxExamples}`)
  if (rows.length === 0) return ok(check, `${what} match the stored signals`)
  const examples = rows.map((row) => {
    const version = row.version === undefined ? '' : `, version ${oneLine(String(row.version))}`
    return (
      `organisation ${row.organisation_id}, prompt ${row.prompt_id}${version}, ${isoTime(row.hour as number)}: ` +
      `${row.positive} positive and ${row.negative} negative in the sum, ` +
      `${row.positive_stored} and ${row.negative_stored} stored`
    )
  })
  const message = listExamples(examples, rows[0]?.total as number)
  return fail(check, message, `Recompute the sums of these hours: docs/operations/doctor.md#${check}`)
}
