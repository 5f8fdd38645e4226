import type { FactStore } from '../../domain/history/facts.ts'
import type { HiddenStatus } from '../../domain/history/hidden-characters.ts'
import { type Database, statement, type Value } from './database.ts'
import { lockHistory } from './history-positions.ts'

const statuses: HiddenStatus[] = ['none', 'present', 'added']
const unreadable = -1

export function toHiddenStatus(value: Value | undefined): HiddenStatus | null {
  return statuses[(value ?? unreadable) as number] ?? null
}

/** For an upsert of entries: a change of either text needs a new check. */
export const keepHiddenStatus = `hidden_characters = case
  when history_entries.before_blob is not distinct from excluded.before_blob
    and history_entries.after_blob is not distinct from excluded.after_blob then history_entries.hidden_characters end`

export function sqlHiddenCharacters(database: Database): Pick<FactStore, 'uncheckedEntries' | 'recordHiddenStatus'> {
  return {
    async uncheckedEntries({ organisationId, id }, limit) {
      const rows = await database.rows(
        `select id, prompt_id, before_blob, after_blob from history_entries
         where organisation_id = ? and repository_id = ? and hidden_characters is null order by id desc limit ?`,
        [organisationId, id, limit],
      )
      return rows.map((row) => ({
        id: row.id as number,
        promptId: row.prompt_id as number,
        beforeBlob: row.before_blob as string | null,
        afterBlob: row.after_blob as string | null,
      }))
    },

    async recordHiddenStatus({ organisationId }, checked) {
      // In order of their IDs, so that two writers cannot each wait for a prompt that the other has locked.
      const prompts = [...new Set(checked.map(({ promptId }) => promptId))].sort((a, b) => a - b)
      // One statement for each entry: SQLite would join them with all entries of the organisation. The caches hold none of this.
      await database.write([
        ...prompts.map((id) => lockHistory({ organisationId, id })),
        ...checked.map(({ id, beforeBlob, afterBlob, status }) =>
          statement(
            `update history_entries set hidden_characters = ? where organisation_id = ? and id = ?
               and before_blob is not distinct from cast(? as text) and after_blob is not distinct from cast(? as text)`,
            [status === null ? unreadable : statuses.indexOf(status), organisationId, id, beforeBlob, afterBlob],
          ),
        ),
      ])
    },
  }
}
