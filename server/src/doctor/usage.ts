import { type Instant, isoTime } from '../domain/time.ts'
import type { DatabaseReader } from './database.ts'
import { type Finding, fail, listExamples, maxExamples, ok, plural, warn } from './finding.ts'

const guide = 'docs/operations/doctor.md#usage'
interface Total {
  organisation_id: number
  used: number
  /** Counted in the usage but no longer in the hourly sums. */
  missing: number
}

/**
 * Over all months, the usage exceeds the hourly sums by the signals that the audit log records as deleted or erased, and the votes
 * that are withdrawn. In one month it can be lower than the sums: a late vote is counted when it arrives, and summed when it
 * was cast.
 */
export async function checkUsage(database: DatabaseReader): Promise<Finding> {
  const month = database.monthOf('hour')
  const compared = `
    with summed as (
      select organisation_id, ${month} as month, cast(sum(positive + negative) as bigint) as signals
      from (select organisation_id, hour, positive, negative from hour_sums
        union all select organisation_id, hour, positive, negative from evaluation_hours) as sums
      group by organisation_id, ${month}),
    counted as (select organisation_id, month, cast(sum(used) as bigint) as used from month_usage group by organisation_id, month)
    select coalesce(u.organisation_id, s.organisation_id) as organisation_id, coalesce(u.month, s.month) as month,
      coalesce(u.used, 0) as used, coalesce(s.signals, 0) as signals
    from counted u full join summed s on s.organisation_id = u.organisation_id and s.month = u.month`
  const [deleted, withdrawn, withSubjects] = [
    await countDeleted(database),
    await countVotes(database, 'value is null'),
    await countVotes(database, 'true'),
  ]
  const deletedOf = (organisation: number) => (deleted.get(organisation) ?? 0) + (withdrawn.get(organisation) ?? 0)
  // Retention removes withdrawn votes, after which their number is unknown. Before migration 12, there were none.
  const [retention] = await database.rows(
    `select kept_since, (select applied_at from schema_migrations where version = 12) as votes_since from signal_retention`,
  )
  const { kept_since: keptSince, votes_since: votesSince } = retention as Record<string, number>
  const mayHaveMore = (organisation: number) =>
    (keptSince as number) > (votesSince as number) ||
    ((keptSince as number) > 0 && (withSubjects.get(organisation) ?? 0) > 0)
  const totals = (await database.rows(
    `select organisation_id, cast(sum(used - signals) as bigint) as missing, cast(sum(used) as bigint) as used
     from (${compared}) as c group by organisation_id`,
  )) as unknown as Total[]
  const mismatches = totals.filter(({ organisation_id: id, missing }) =>
    mayHaveMore(id) ? missing < deletedOf(id) : missing !== deletedOf(id),
  )
  if (mismatches.length === 0) {
    const counted = totals.reduce((sum, { used }) => sum + used, 0)
    const signals = `${plural(counted, 'signal')} of ${plural(totals.length, 'organisation')}`
    return ok('usage', `the counts of ${signals} match the hourly sums and the audit log`)
  }
  const tooLow = mismatches.filter(({ organisation_id, missing }) => missing < deletedOf(organisation_id))
  const months = await monthsTooLow(database, compared, tooLow)
  if (months !== null) return months
  const examples = mismatches.map(
    ({ organisation_id, missing }) =>
      `organisation ${organisation_id}: ${missing} more counted than in the hourly sums, ` +
      `${deletedOf(organisation_id)} deleted, erased or withdrawn`,
  )
  const message = listExamples(examples)
  const deletionsMissing = mismatches.every(({ organisation_id, missing }) => missing > deletedOf(organisation_id))
  if (deletionsMissing && !(await hasCompleteAudit(database))) {
    const fix = 'Ignore this if signals were deleted before the audit log existed (database version 5)'
    return warn('usage', message, fix)
  }
  return fail('usage', message, `Find out which of the two is right: ${guide}`)
}

/** Which months of these organisations have fewer signals counted than recorded; null if none has. */
async function monthsTooLow(database: DatabaseReader, compared: string, of: Total[]): Promise<Finding | null> {
  if (of.length === 0) return null
  const ids = of.map(({ organisation_id }) => organisation_id).join()
  const tooLow =
    await database.rows(`select c.*, count(*) over () as total from (${compared}) as c where used < signals and organisation_id in (${ids})
    order by organisation_id, month limit ${maxExamples}`)
  if (tooLow.length === 0) return null
  const examples = tooLow.map(
    ({ organisation_id, month, used, signals }) =>
      `organisation ${organisation_id} in ${isoTime(month as Instant).slice(0, 7)}: ${used} counted, ${signals} recorded`,
  )
  const message = listExamples(examples, tooLow[0]?.total as number)
  return fail('usage', message, `Raise the counts to the recorded signals: ${guide}`)
}

async function countVotes(database: DatabaseReader, condition: string): Promise<Map<number, number>> {
  const rows = await database.rows(
    `select organisation_id, count(*) as count from signal_subjects where ${condition} group by organisation_id`,
  )
  return new Map(rows.map((row) => [row.organisation_id as number, row.count as number]))
}

/** Signals per organisation that the audit log records as deleted or erased. */
async function countDeleted(database: DatabaseReader): Promise<Map<number, number>> {
  const deleted = new Map<number, number>()
  const add = (organisation: number, count: number) =>
    deleted.set(organisation, (deleted.get(organisation) ?? 0) + count)
  const retracted = await database.rows(
    `select organisation_id, count(*) as count from audit where action = 'signal.retracted' group by organisation_id`,
  )
  for (const row of retracted) add(row.organisation_id as number, row.count as number)
  const erased = await database.rows(`select organisation_id, details from audit where action = 'signals.erased'`)
  for (const row of erased) add(row.organisation_id as number, JSON.parse(row.details as string).erased)
  return deleted
}

/** Whether the database was created with the audit log, which came with version 5. */
async function hasCompleteAudit(database: DatabaseReader): Promise<boolean> {
  const [row] = await database.rows(
    `select max(applied_at) - min(applied_at) as elapsed from schema_migrations where version in (1, 5)`,
  )
  return (row?.elapsed as number) < 60_000
}
