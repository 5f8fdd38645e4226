import type { FactStore } from '../../domain/history/facts.ts'
import type { HiddenStatus } from '../../domain/history/hidden-characters.ts'
import { type ColumnTypes, type Database, statement, type Value } from './database.ts'
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

const checkedColumns: ColumnTypes = {
  organisation_id: 'bigint',
  entry_id: 'bigint',
  old_blob: 'text',
  new_blob: 'text',
  status: 'bigint',
}

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
      const records = checked.map(({ id, beforeBlob, afterBlob, status }) => ({
        organisation_id: organisationId,
        entry_id: id,
        old_blob: beforeBlob,
        new_blob: afterBlob,
        status: status === null ? unreadable : statuses.indexOf(status),
      }))
      // The caches hold no part of this.
      await database.write([
        ...prompts.map((id) => lockHistory({ organisationId, id })),
        // The organisation comes from the records, so that SQLite looks up each entry instead of comparing all with all.
        statement(
          `update history_entries set hidden_characters = records.status from ${database.jsonRecords(checkedColumns)}
           where history_entries.organisation_id = records.organisation_id and history_entries.id = records.entry_id
             and history_entries.before_blob is not distinct from records.old_blob
             and history_entries.after_blob is not distinct from records.new_blob`,
          [JSON.stringify(records)],
        ),
      ])
    },
  }
}
