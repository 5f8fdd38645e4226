import { hour, type Instant, isoTime } from '../domain/time.ts'
import type { Row } from '../store/sql/database.ts'
import type { Reading } from './database.ts'
import { type Finding, ok, warning, wrong } from './finding.ts'

const documents = 'docs/operations/doctor.md'
// So many are named.
const examples = 3

/**
 * What was recorded in a month is never more than is counted, and what is counted but not in the sums any more was taken back or
 * erased, which the audit knows.
 */
export async function usage(reading: Reading): Promise<Finding> {
  const month = reading.monthOf('hour')
  const compared = `
    with summed as (
      select organisation_id, ${month} as month, cast(sum(positive + negative) as bigint) as signals
      from signal_hours group by organisation_id, ${month})
    select coalesce(u.organisation_id, s.organisation_id) as organisation_id, coalesce(u.month, s.month) as month,
      coalesce(u.used, 0) as used, coalesce(s.signals, 0) as signals
    from signal_usage u full join summed s on s.organisation_id = u.organisation_id and s.month = u.month`
  const [short = []] = [
    await reading.rows(`select c.*, count(*) over () as total from (${compared}) as c where used < signals
      order by organisation_id, month limit ${examples}`),
  ]
  if (short.length > 0) {
    const named = short.map(
      (row) =>
        `organisation ${row.organisation_id} in ${monthText(row.month)}: ${row.used} counted, ${row.signals} recorded`,
    )
    return wrong('usage', listed(named, short), `Raise the counts to what was recorded: ${documents}#usage`)
  }
  const gone = await takenBack(reading)
  const totals = await reading.rows(
    `select organisation_id, cast(sum(used - signals) as bigint) as gone, cast(sum(used) as bigint) as used
     from (${compared}) as c group by organisation_id`,
  )
  const odd = totals.filter((row) => row.gone !== (gone.get(row.organisation_id as number) ?? 0))
  if (odd.length === 0) {
    const counted = totals.reduce((sum, { used }) => sum + (used as number), 0)
    return ok('usage', `${counted} signals of ${totals.length} organisations agree with the hourly sums and the audit`)
  }
  const named = odd.slice(0, examples).map((row) => {
    const known = gone.get(row.organisation_id as number) ?? 0
    return `organisation ${row.organisation_id}: ${row.gone} more counted than in the sums, ${known} taken back or erased`
  })
  const text = listed(named, [{ total: odd.length }])
  const missed = odd.every((row) => (row.gone as number) > (gone.get(row.organisation_id as number) ?? 0))
  if (missed && !(await auditedFromTheStart(reading))) {
    const todo = 'Nothing, where signals were taken back before there was an audit (version 5 of the database)'
    return warning('usage', text, todo)
  }
  return wrong('usage', text, `Find out which of the two is right: ${documents}#usage`)
}

/** How many signals of each organisation the audit says were taken back or erased. */
async function takenBack(reading: Reading): Promise<Map<number, number>> {
  const gone = new Map<number, number>()
  const add = (organisation: number, count: number) => gone.set(organisation, (gone.get(organisation) ?? 0) + count)
  const retracted = await reading.rows(
    `select organisation_id, count(*) as count from audit where action = 'signal.retracted' group by organisation_id`,
  )
  for (const row of retracted) add(row.organisation_id as number, row.count as number)
  const erased = await reading.rows(`select organisation_id, details from audit where action = 'signals.erased'`)
  for (const row of erased) add(row.organisation_id as number, JSON.parse(row.details as string).erased)
  return gone
}

async function auditedFromTheStart(reading: Reading): Promise<boolean> {
  const [row] = await reading.rows(
    `select max(applied_at) - min(applied_at) as apart from schema_migrations where version in (1, 5)`,
  )
  return (row?.apart as number) < 60_000
}

/** Hours that are kept have exactly their signals; in hours from before, some may be removed already. */
export async function hours(reading: Reading): Promise<Finding> {
  // The plus keeps SQLite off the index, by whose order it would jump about in the table.
  const rows = await reading.rows(`
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
    order by organisation_id, prompt_id, hour limit ${examples}`)
  if (rows.length === 0) return ok('hours', 'the hourly sums agree with the signals that are kept')
  const named = rows.map(
    (row) =>
      `organisation ${row.organisation_id}, prompt ${row.prompt_id}, ${isoTime(row.hour as number)}: ` +
      `${row.positive} positive and ${row.negative} negative in the sum, ` +
      `${row.positive_stored} and ${row.negative_stored} stored`,
  )
  return wrong('hours', listed(named, rows), `Make the sums of these hours anew: ${documents}#hours`)
}

export async function history(reading: Reading): Promise<Finding> {
  const rows = await reading.rows(`
    with placed as (
      select organisation_id, prompt_id, position,
        row_number() over (partition by organisation_id, prompt_id order by created_at, id) as place
      from history_entries),
    counted as (
      select organisation_id, prompt_id, count(*) as entries,
        sum(case when position = place then 0 else 1 end) as misplaced
      from placed group by organisation_id, prompt_id)
    select p.organisation_id, p.public_id, p.history_count, coalesce(c.entries, 0) as entries,
      coalesce(c.misplaced, 0) as misplaced, count(*) over () as total
    from prompts p left join counted c on c.organisation_id = p.organisation_id and c.prompt_id = p.id
    where p.history_count <> coalesce(c.entries, 0) or c.misplaced > 0
    order by p.organisation_id, p.id limit ${examples}`)
  if (rows.length === 0) {
    const [all] = await reading.rows('select count(*) as entries from history_entries')
    return ok('history', `${all?.entries} entries are numbered and counted`)
  }
  const named = rows.map(
    (row) => `${row.public_id}: ${row.history_count} counted, ${row.entries} stored, ${row.misplaced} in a wrong place`,
  )
  return wrong('history', listed(named, rows), `Number these histories anew: ${documents}#history`)
}

/** What names a row of another table together with its organisation. */
const links = [
  ['signals', 'prompt_id', 'prompts'],
  ['signal_hours', 'prompt_id', 'prompts'],
  ['history_entries', 'prompt_id', 'prompts'],
  ['edits', 'prompt_id', 'prompts'],
  ['prompts', 'repository_id', 'repositories'],
  ['history_entries', 'repository_id', 'repositories'],
  ['edits', 'repository_id', 'repositories'],
  ['pulls', 'repository_id', 'repositories'],
  ['deliveries', 'repository_id', 'repositories'],
  ['sessions', 'key_id', 'api_keys'],
] as const

export async function belonging(reading: Reading): Promise<Finding> {
  const strays: string[] = []
  for (const [table, column, owner] of links) {
    const [row] = await reading.rows(
      `select count(*) as count from ${table} t where t.${column} is not null and not exists (
         select 1 from ${owner} o where o.id = t.${column} and o.organisation_id = t.organisation_id)`,
    )
    if (row?.count !== 0) strays.push(`${row?.count} of ${table}, by ${column}`)
  }
  if (strays.length === 0)
    return ok('belonging', 'everything belongs to the organisation of its prompt, repository or key')
  return wrong('belonging', `of no or another organisation: ${strays.join('; ')}`, `See ${documents}#belonging`)
}

function listed(named: string[], [first]: Row[]): string {
  const more = (first?.total as number) - named.length
  return named.join('; ') + (more > 0 ? `; and ${more} more` : '')
}

function monthText(month: Row[string] | undefined): string {
  return isoTime(month as Instant).slice(0, 7)
}
