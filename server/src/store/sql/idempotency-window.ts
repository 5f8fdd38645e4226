import type { IdempotencyKeyStore } from '../../domain/signals/idempotency-window.ts'
import { type Database, type Statement, statement } from './database.ts'
import { removalBatchSize } from './retention.ts'

/** Removes a batch of the idempotency keys from before an instant. A full batch means there may be more. */
function removeBatch(instant: string, parameters: number[] = []): Statement {
  const batch = `select organisation_id, key from idempotency_keys where created_at < ${instant} limit ${removalBatchSize}`
  return statement(`delete from idempotency_keys where (organisation_id, key) in (${batch}) returning key`, parameters)
}

/** Those whose signals retention has removed. */
export const removeKeysOfRemovedSignals = removeBatch('(select kept_since from signal_retention)')

export function sqlIdempotencyKeys(database: Pick<Database, 'write'>): IdempotencyKeyStore {
  return {
    async removeKeysBefore(at) {
      const [removed = []] = await database.write([removeBatch('?', [at])])
      return removed.length === removalBatchSize
    },
  }
}
