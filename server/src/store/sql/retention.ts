import type { Instant } from '../../domain/time.ts'
import { type Database, requireRow, type Statement, statement } from './database.ts'

export function sqlRetainedSince(database: Database): () => Promise<Instant> {
  return async () => requireRow(await database.rows('select kept_since from signal_retention')).kept_since as number
}

/** Moves the start of retention forward. It never moves back, because removed signals cannot be restored. */
export function retainSince(at: Instant): Statement {
  return statement('update signal_retention set kept_since = ? where kept_since < ?', [at, at])
}

export const removalBatchSize = 500

const isExpired = `received_at < (select kept_since from signal_retention)
  and created_at < (select kept_since from signal_retention)`

/**
 * Removes a batch of the votes that both arrived and count for a time before the start of retention. The condition is repeated
 * because PostgreSQL checks only the outer one again after waiting for a vote that is cast again at that moment.
 */
export const removeSubjectsBatch = statement(
  `delete from signal_subjects where (organisation_id, prompt_id, subject) in (
     select organisation_id, prompt_id, subject from signal_subjects where ${isExpired} limit ${removalBatchSize})
     and ${isExpired} returning subject`,
)

/**
 * Removes a batch of the idempotency keys whose signals retention has removed: a repeated request gets the first response for as long as
 * the signal is kept (docs/decisions/0097). A full batch means there may be more.
 */
export const removeKeysOfRemovedSignals = statement(
  `delete from idempotency_keys where (organisation_id, key) in (
     select organisation_id, key from idempotency_keys where created_at < (select kept_since from signal_retention)
     limit ${removalBatchSize}) returning key`,
)
