import { statement } from './database.ts'
import { removalBatchSize } from './retention.ts'

/**
 * Removes a batch of the idempotency keys whose signals retention has removed: a repeated request gets the first response for as long as
 * the signal is kept (docs/decisions/0097). A full batch means there may be more.
 */
export const removeKeysOfRemovedSignals = statement(
  `delete from idempotency_keys where (organisation_id, key) in (
     select organisation_id, key from idempotency_keys where created_at < (select kept_since from signal_retention)
     limit ${removalBatchSize}) returning key`,
)
