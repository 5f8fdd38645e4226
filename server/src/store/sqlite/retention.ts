import type { RetentionStore } from '../../domain/signals/retention.ts'
import { hourStart } from '../../domain/time.ts'
import { statement } from '../sql/database.ts'
import {
  removalBatchSize,
  removeKeysOfRemovedSignals,
  removeSubjectsBatch,
  retainSince,
  sqlRetainedSince,
} from '../sql/retention.ts'
import type { SqliteDatabase } from './database.ts'

// Goes prompt by prompt, because the index on time starts with the prompt.
const removeSignalsBatch = statement(
  `delete from signals where id in (
     select s.id from prompts p cross join signals s
     where s.organisation_id = p.organisation_id and s.prompt_id = p.id
       and s.created_at < (select kept_since from signal_retention)
     limit ${removalBatchSize}) returning id`,
)

/** Hides whole hours, whose sums are stored, and then removes their rows in batches. */
export function sqliteRetention(database: SqliteDatabase): RetentionStore {
  return {
    retainedSince: sqlRetainedSince(database),
    async removeBatch(cutoff) {
      const [, ...removed] = await database.write([
        retainSince(hourStart(cutoff)),
        removeSignalsBatch,
        removeKeysOfRemovedSignals,
        removeSubjectsBatch,
      ])
      return removed.some((rows) => rows.length === removalBatchSize)
    },
  }
}
