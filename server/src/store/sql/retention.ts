import type { Instant } from '../../domain/time.ts'
import { type Database, only, type Statement, statement } from './database.ts'

export function sqlKeptSince(database: Database): () => Promise<Instant> {
  return async () => only(await database.rows('select kept_since from signal_retention')).kept_since as number
}

/** From then on; never earlier than it was, since what is gone does not come back. */
export function keepSince(at: Instant): Statement {
  return statement('update signal_retention set kept_since = ? where kept_since < ?', [at, at])
}

export const stepSize = 500

/** Removes some of the idempotency keys whose signals are not kept; as many as a step has where there are more. */
export const removeKeysStep = statement(
  `delete from idempotency_keys where (organisation_id, key) in (
     select organisation_id, key from idempotency_keys
     where created_at < (select kept_since from signal_retention) limit ${stepSize}) returning key`,
)
