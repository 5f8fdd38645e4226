import type { SignalStore } from '../../domain/signal.ts'
import { hourStart } from '../../domain/time.ts'
import type { SqliteDatabase } from './database.ts'

export function retractSignal(database: SqliteDatabase): SignalStore['retract'] {
  const remove = database.prepare(
    'delete from signals where id = ? and organisation_id = ? and prompt_id = ? returning value, created_at',
  )
  const subtract = {
    positive: database.prepare(
      'update signal_hours set positive = positive - 1 where organisation_id = ? and prompt_id = ? and hour = ?',
    ),
    negative: database.prepare(
      'update signal_hours set negative = negative - 1 where organisation_id = ? and prompt_id = ? and hour = ?',
    ),
  }
  return ({ organisationId, id: promptId }, id) =>
    database.transaction(() => {
      const removed = remove.get(id, organisationId, promptId)
      if (removed === undefined) return false
      const hour = hourStart(removed.created_at as number)
      subtract[removed.value as 'positive' | 'negative'].run(organisationId, promptId, hour)
      return true
    })
}
