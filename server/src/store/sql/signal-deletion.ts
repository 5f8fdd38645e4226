import type { SignalStore, SignalValue } from '../../domain/signals/signal.ts'
import type { VersionText } from '../../domain/signals/version.ts'
import type { Instant } from '../../domain/time.ts'
import { auditEntry } from './audit-chain.ts'
import { type ColumnTypes, type Database, type Row, type Statement, statement } from './database.ts'
import { increaseRevisions } from './hour-revisions.ts'
import { announceErased } from './signal-events.ts'
import { addToSums, createSumChanges } from './sum-changes.ts'
import { recountTrials } from './trials.ts'

/** If the same signal is deleted twice at once, the second call waits for the first and then finds nothing. */
export function sqlSignalDeletion(database: Database): SignalStore['delete'] {
  return async ({ organisationId, id: promptId, publicId, name }, id, at, by) => {
    const subject = { id, name }
    const details = { prompt_id: publicId }
    const [, removed = []] = await database.write([
      // First, like the signal batch, which locks the vote before it changes the signal.
      statement(
        `delete from signal_subjects where organisation_id = ? and prompt_id = ? and signal_id = ? and subject =
           (select subject from signals where organisation_id = ? and prompt_id = ? and id = ?)`,
        [organisationId, promptId, id, organisationId, promptId, id],
      ),
      {
        ...statement(
          `delete from signals where organisation_id = ? and prompt_id = ? and id = ?
           returning ${deletedColumns}`,
          [organisationId, promptId, id],
        ),
        andThen: (rows) =>
          rows.flatMap(() => [
            ...afterDeletion(database, organisationId, rows, at),
            auditEntry({ organisationId, by, at, action: 'signal.retracted', subject, details }),
          ]),
      },
    ])
    return removed.length > 0
  }
}

/** The columns of a deleted signal that `afterDeletion` needs. */
export const deletedColumns = 'id, prompt_id, value, created_at, version, subject'

const columns: ColumnTypes = {
  prompt: 'bigint',
  version: 'text',
  hour: 'bigint',
  positive: 'bigint',
  negative: 'bigint',
}

/**
 * Subtracts signals that were just deleted (rows with `deletedColumns`) from their hourly sums, and deletes their votes. The votes
 * are deleted before the signals too, but a vote that was withdrawn at that moment may have been cast again since. `at`: when that was.
 */
export function afterDeletion(database: Database, organisationId: number, removed: Row[], at: Instant): Statement[] {
  if (removed.length === 0) return []
  const changes = createSumChanges()
  for (const { prompt_id, value, version, created_at } of removed) {
    const prompt = { organisationId, promptId: prompt_id as number }
    changes.change(prompt, value as SignalValue, version as VersionText | null, created_at as Instant, -1)
  }
  const records = changes.all().map(({ promptId: prompt, ...sum }) => ({ ...sum, prompt }))
  const [sums, ofVersions] = [
    records.filter(({ version }) => version === null),
    records.filter(({ version }) => version !== null),
  ]
  const rows = database.jsonRecords(columns)
  return [
    recountTrials(database, organisationId, [...new Set(removed.map(({ prompt_id }) => prompt_id as number))]),
    ...deleteVotes(
      database,
      organisationId,
      removed.filter(({ subject }) => subject !== null),
    ),
    // The same order as in the signal batch prevents deadlocks on the rows of both tables.
    statement(
      addToSums(
        'signal_hours',
        `select cast(? as bigint), prompt, hour, positive, negative from ${rows} where true order by prompt, hour`,
      ),
      [organisationId, JSON.stringify(sums)],
    ),
    ...(ofVersions.length === 0
      ? []
      : [
          statement(
            addToSums(
              'version_hours',
              `select cast(? as bigint), prompt, version, hour, positive, negative from ${rows} where true
               order by prompt, version ${database.byteOrder}, hour`,
            ),
            [organisationId, JSON.stringify(ofVersions)],
          ),
        ]),
    increaseRevisions(
      database,
      organisationId,
      removed.map(({ prompt_id }) => prompt_id as number),
    ),
    ...announceErased(database, organisationId, removed, at),
  ]
}

const voteColumns: ColumnTypes = { prompt: 'bigint', subject: 'text' }

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
