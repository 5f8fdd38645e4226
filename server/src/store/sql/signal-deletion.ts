import type { SignalStore } from '../../domain/signals/signal.ts'
import { auditEntry } from './audit-chain.ts'
import { type Database, statement } from './database.ts'
import { afterDeletion, deletedColumns } from './signal-hours.ts'

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
