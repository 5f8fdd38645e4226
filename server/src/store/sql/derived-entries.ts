import type { EntryChanges, FactStore } from '../../domain/history/facts.ts'
import type { Repository } from '../../domain/repositories/repository.ts'
import { inChunks } from './chunks.ts'
import { columnNames, type Database, requireRow, type Statement, statement } from './database.ts'
import { entryColumns, fromEntry, toStoredEntry } from './entry-rows.ts'
import { keepHiddenStatus } from './hidden-characters.ts'
import { lockHistory, renumberSince, updateCount } from './history-positions.ts'

export function sqlDerivedEntries(database: Database): Pick<FactStore, 'entries' | 'countEntries'> {
  return {
    async entries({ organisationId, id }, { commits, pulls }) {
      const entriesWhere = async (condition: string, values: (string | number)[]) => {
        if (values.length === 0) return []
        const sql = `select id, ${columnNames(entryColumns)} from history_entries
          where organisation_id = ? and repository_id = ? and ${condition}`
        return (await database.rows(sql, [organisationId, id, JSON.stringify(values)])).map(toStoredEntry)
      }
      const byCommit = await entriesWhere(
        `dedupe_key in ${database.jsonElements('text')}`,
        commits.map((sha) => `c:${sha}`),
      )
      const byPull = await entriesWhere(`pr_number in ${database.jsonElements('bigint')}`, pulls)
      return [...new Map([...byCommit, ...byPull].map((entry) => [entry.id, entry])).values()]
    },

    async countEntries({ organisationId, id }) {
      const sql = 'select count(*) as count from history_entries where organisation_id = ? and repository_id = ?'
      return requireRow(await database.rows(sql, [organisationId, id])).count as number
    },
  }
}

export function applyEntryChanges(database: Database, repository: Repository, changes: EntryChanges): Statement[] {
  const { added, changed, removed } = changes
  const { organisationId, id } = repository
  const earliest = earliestChanges(changes)
  // In order of their IDs, so two processes cannot each wait for a prompt that the other has locked.
  const prompts = [...earliest.keys()].sort((a, b) => a - b).map((promptId) => ({ organisationId, id: promptId }))
  const names = columnNames(entryColumns)
  const updates = [...entryColumns.map(({ name }) => `${name} = excluded.${name}`), keepHiddenStatus].join(', ')
  const statements = prompts.map(lockHistory)
  for (const chunk of inChunks(removed)) {
    statements.push(
      statement(`delete from history_entries where organisation_id = ? and id in ${database.jsonElements('bigint')}`, [
        organisationId,
        JSON.stringify(chunk.map((entry) => entry.id)),
      ]),
    )
  }
  for (const chunk of inChunks([...added, ...changed.map(({ after }) => after)])) {
    statements.push(
      statement(
        `insert into history_entries (organisation_id, repository_id, position, ${names})
         select cast(? as bigint), cast(? as bigint), 0, ${names} from ${database.jsonRecords(entryColumns)} where true
         on conflict (organisation_id, prompt_id, dedupe_key) do update set ${updates}
         where history_entries.repository_id = excluded.repository_id`,
        [organisationId, id, JSON.stringify(chunk.map(fromEntry))],
      ),
    )
  }
  return [
    ...statements,
    ...prompts.map((prompt) => renumberSince(database, prompt, earliest.get(prompt.id) as number)),
    ...prompts.map(updateCount),
  ]
}

/** For each prompt, the earliest time from which its entries need new positions. */
function earliestChanges({ added, changed, removed }: EntryChanges): Map<number, number> {
  const earliest = new Map<number, number>()
  for (const { promptId, createdAt } of [
    ...added,
    ...removed,
    ...changed.flatMap(({ before, after }) => [before, after]),
  ]) {
    earliest.set(promptId, Math.min(createdAt, earliest.get(promptId) ?? createdAt))
  }
  return earliest
}
