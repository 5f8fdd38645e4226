import type { RetentionStore } from '../../domain/signals/retention.ts'
import { hourStart } from '../../domain/time.ts'
import { statement } from '../sql/database.ts'
import { keepSince, removeKeysStep, sqlKeptSince, stepSize } from '../sql/retention.ts'
import type { SqliteDatabase } from './database.ts'

// Prompt by prompt, because the index on time begins with them.
const removeStep = statement(
  `delete from signals where id in (
     select s.id from prompts p cross join signals s
     where s.organisation_id = p.organisation_id and s.prompt_id = p.id
       and s.created_at < (select kept_since from signal_retention)
     limit ${stepSize}) returning id`,
)

/** Hides whole hours, whose sums are known, and removes their rows a few at a time. */
export function sqliteRetention(database: SqliteDatabase): RetentionStore {
  return {
    keptSince: sqlKeptSince(database),
    async removeSome(cutoff) {
      const [, signals = [], keys = []] = await database.write([
        keepSince(hourStart(cutoff)),
        removeStep,
        removeKeysStep,
      ])
      return signals.length === stepSize || keys.length === stepSize
    },
  }
}
