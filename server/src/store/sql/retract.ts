import type { SignalStore } from '../../domain/signals/signal.ts'
import { auditEntry } from './audit.ts'
import { type Database, statement } from './database.ts'
import { subtractFromHours } from './signal-hours.ts'

/** Of two who take the same signal back at once, one waits and then finds none. */
export function sqlRetract(database: Database): SignalStore['retract'] {
  return async ({ organisationId, id: promptId, publicId, name }, id, at, by) => {
    const subject = { id, name }
    const details = { prompt_id: publicId }
    const [removed = []] = await database.write([
      {
        ...statement(
          `delete from signals where organisation_id = ? and prompt_id = ? and id = ?
           returning prompt_id, value, created_at`,
          [organisationId, promptId, id],
        ),
        andThen: (rows) =>
          rows.flatMap(() => [
            ...subtractFromHours(database, organisationId, rows),
            auditEntry({ organisationId, by, at, action: 'signal.retracted', subject, details }),
          ]),
      },
    ])
    return removed.length > 0
  }
}
