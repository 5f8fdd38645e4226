import type { Prompt } from '../../domain/prompt.ts'
import { type ColumnTypes, type Database, type RowInsert, type Statement, statement } from './database.ts'

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

/** Like `lockHistory`, for a prompt that is about to get this many more entries. */
export function growHistory({ organisationId, id }: PromptKey, added: number): Statement {
  return statement('update prompts set history_count = history_count + ? where organisation_id = ? and id = ?', [
    added,
    organisationId,
    id,
  ])
}

/**
 * The position of a new entry, if it is newer than those of its prompt so far. `place` counts backwards from the newest of the
 * new entries, which is 0.
 */
export const positionAtEnd: NonNullable<RowInsert['computed']> = {
  name: 'position',
  sql: (value) =>
    `(select history_count from prompts where organisation_id = ${value('organisation_id')} and id = ${value('prompt_id')})
      + ${value('place')}`,
  unstored: { place: 'bigint' },
}

/** The prompts that have got new entries. */
interface GrownHistory {
  promptId: number
  added: number
  /** The time of the earliest new entry. */
  earliest: number
}

const grownColumns: ColumnTypes = { prompt_id: 'bigint', added: 'bigint', earliest: 'bigint' }

/**
 * Finds the prompts whose new entries do not all follow the others, or exist already, and assigns their positions. In a
 * backfill there are hardly any, and assigning positions takes longer than adding entries.
 */
export function renumberUnlessAtEnd(database: Database, organisationId: number, grown: GrownHistory[]): Statement {
  const earliest = new Map(grown.map((each) => [each.promptId, each.earliest]))
  const records = grown.map(({ promptId, ...each }) => ({ prompt_id: promptId, ...each }))
  const ofPrompt = 'from history_entries where organisation_id = ? and prompt_id = grown.prompt_id'
  return {
    sql: `select prompt_id from (
        select prompt_id, added, earliest,
          (select history_count from prompts where organisation_id = ? and id = records.prompt_id) - added as before
        from ${database.jsonRecords(grownColumns)}
      ) as grown
      where (select count(*) ${ofPrompt} and position > grown.before) <> added
        or (select max(created_at) ${ofPrompt} and position = grown.before) > earliest`,
    parameters: [organisationId, JSON.stringify(records), organisationId, organisationId],
    andThen: (rows) =>
      rows.flatMap(({ prompt_id }) => {
        const prompt = { organisationId, id: prompt_id as number }
        return [renumberSince(database, prompt, earliest.get(prompt.id) as number), updateCount(prompt)]
      }),
  }
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
