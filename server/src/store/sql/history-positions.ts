import type { Prompt } from '../../domain/prompt.ts'
import { type Database, type Statement, statement } from './database.ts'

type PromptKey = Pick<Prompt, 'organisationId' | 'id'>

/**
 * Entries have positions from 1 (oldest) to `history_count` (newest), so any page is a range of the index on (prompt, position).
 * Locking the prompt's row first keeps concurrent writers from assigning the same positions.
 */
export function lockHistory({ organisationId, id }: PromptKey): Statement {
  return statement(
    'update prompts set history_count = history_count where organisation_id = ? and id = ? returning history_count',
    [organisationId, id],
  )
}

/**
 * Assigns positions to all entries from `earliest` on. It joins rows by their address: with any key, PostgreSQL may read the
 * whole history once per entry until its statistics catch up with the table's size.
 */
export function renumberSince(
  { rowAddress }: Database,
  { organisationId, id }: PromptKey,
  earliest: number,
): Statement {
  return statement(
    `update history_entries set position = ranked.position
     from (
       select ${rowAddress} as address, row_number() over (order by created_at, id) + coalesce((
         select position from history_entries where organisation_id = ? and prompt_id = ? and created_at < ?
         order by created_at desc, id desc limit 1), 0) as position
       from history_entries where organisation_id = ? and prompt_id = ? and created_at >= ?
     ) as ranked
     where history_entries.organisation_id = ? and history_entries.${rowAddress} = ranked.address
       and history_entries.position <> ranked.position`,
    [organisationId, id, earliest, organisationId, id, earliest, organisationId],
  )
}

export function updateCount({ organisationId, id }: PromptKey): Statement {
  return statement(
    `update prompts set history_count = coalesce((
       select position from history_entries where organisation_id = ? and prompt_id = ?
       order by created_at desc, id desc limit 1), 0)
     where organisation_id = ? and id = ? returning history_count`,
    [organisationId, id, organisationId, id],
  )
}
