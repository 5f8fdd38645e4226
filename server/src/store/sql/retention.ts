import type { Instant } from '../../domain/time.ts'
import { type Database, only, type Statement, statement } from './database.ts'

export function sqlKeptSince(database: Database): () => Promise<Instant> {
  return async () => only(await database.rows('select kept_since from signal_retention')).kept_since as number
}

/** From then on; never earlier than it was, since what is gone does not come back. */
export function keepSince(at: Instant): Statement {
  return statement('update signal_retention set kept_since = ? where kept_since < ?', [at, at])
}
