import { hourStart } from '../../domain/time.ts'
import { type Database, type Row, type Statement, statement, type TypedColumn } from './database.ts'
import { increaseRevisions } from './hour-revisions.ts'

/** The columns of a deleted signal that `afterDeletion` needs. */
export const deletedColumns = 'id, prompt_id, value, created_at, version, subject'

const columns: TypedColumn[] = [
  { name: 'prompt', type: 'bigint' },
  { name: 'version', type: 'text' },
  { name: 'hour', type: 'bigint' },
  { name: 'positive', type: 'bigint' },
  { name: 'negative', type: 'bigint' },
]

const subtract = (table: string) => `positive = ${table}.positive + excluded.positive,
  negative = ${table}.negative + excluded.negative`

/**
 * Subtracts signals that were just deleted (rows with `deletedColumns`) from their hourly sums, and deletes their votes. The votes
 * are deleted before the signals too, but a vote that was withdrawn at that moment may have been cast again since.
 */
export function afterDeletion(database: Database, organisationId: number, removed: Row[]): Statement[] {
  const versioned = removed.filter(({ version }) => version !== null)
  return [
    ...deleteVotes(
      database,
      organisationId,
      removed.filter(({ subject }) => subject !== null),
    ),
    // The same order as in the signal batch prevents deadlocks on the rows of both tables.
    ...(removed.length === 0
      ? []
      : [
          statement(
            `insert into signal_hours (organisation_id, prompt_id, hour, positive, negative)
             select cast(? as bigint), prompt, hour, -positive, -negative from ${database.jsonRecords(columns)} where true
             order by prompt, hour
             on conflict (organisation_id, prompt_id, hour) do update set ${subtract('signal_hours')}`,
            [organisationId, JSON.stringify(sumsOf(removed, () => null))],
          ),
        ]),
    ...(versioned.length === 0
      ? []
      : [
          statement(
            `insert into version_hours (organisation_id, prompt_id, version, hour, positive, negative)
             select cast(? as bigint), prompt, version, hour, -positive, -negative from ${database.jsonRecords(columns)}
             where true order by prompt, version ${database.byteOrder}, hour
             on conflict (organisation_id, prompt_id, version, hour) do update set ${subtract('version_hours')}`,
            [organisationId, JSON.stringify(sumsOf(versioned, ({ version }) => version as string))],
          ),
        ]),
    ...(removed.length === 0
      ? []
      : [
          increaseRevisions(
            database,
            organisationId,
            removed.map(({ prompt_id }) => prompt_id as number),
          ),
        ]),
  ]
}

const voteColumns: TypedColumn[] = [
  { name: 'prompt', type: 'bigint' },
  { name: 'subject', type: 'text' },
]

function deleteVotes(database: Database, organisationId: number, removed: Row[]): Statement[] {
  if (removed.length === 0) return []
  return [
    statement(
      `delete from signal_subjects where (organisation_id, prompt_id, subject) in (
         select cast(? as bigint), prompt, subject from ${database.jsonRecords(voteColumns)})
         and signal_id in ${database.jsonElements('bigint')}`,
      [
        organisationId,
        JSON.stringify(removed.map(({ prompt_id, subject }) => ({ prompt: prompt_id, subject }))),
        JSON.stringify(removed.map(({ id }) => id)),
      ],
    ),
  ]
}

function sumsOf(signals: Row[], versionOf: (signal: Row) => string | null) {
  const keyOf = (signal: Row) =>
    `${signal.prompt_id} ${hourStart(signal.created_at as number)} ${versionOf(signal) ?? ''}`
  return [...Map.groupBy(signals, keyOf).values()].map((group) => {
    const first = group[0] as Row
    const positive = group.filter(({ value }) => value === 'positive').length
    const hour = hourStart(first.created_at as number)
    return { prompt: first.prompt_id, version: versionOf(first), hour, positive, negative: group.length - positive }
  })
}
