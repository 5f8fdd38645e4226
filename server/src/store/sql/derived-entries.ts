import type { DerivedEntry } from '../../domain/history/derivation.ts'
import type { EntryChanges, FactStore, StoredEntry } from '../../domain/history/facts.ts'
import type { Repository } from '../../domain/repositories/repository.ts'
import { countRows, type Database, inChunks, type Row, type Statement, statement } from './database.ts'
import { keepHiddenStatus } from './hidden-characters.ts'
import { growHistory, positionAtEnd, renumberSince, renumberUnlessAtEnd, updateCount } from './history-positions.ts'
import { factNames, toEntry } from './history-rows.ts'

/** The columns of an entry derived from git. */
const entryNames = `prompt_id, ${factNames}, message, actor, path, old_path, before_blob, after_blob, seq, orphaned_at, too_large`

export function sqlDerivedEntries(database: Database): Pick<FactStore, 'entries' | 'countEntries'> {
  return {
    async entries({ organisationId, id }, { commits, pulls }) {
      const entriesWhere = async (condition: string, values: (string | number)[]) => {
        if (values.length === 0) return []
        const sql = `select id, ${entryNames} from history_entries
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

    countEntries: ({ organisationId, id }) =>
      countRows(database, 'history_entries where organisation_id = ? and repository_id = ?', [organisationId, id]),
  }
}

export function applyEntryChanges(database: Database, repository: Repository, changes: EntryChanges): Statement[] {
  const { added, changed, removed } = changes
  const { organisationId, id } = repository
  const addedByPrompt = Map.groupBy(added, ({ promptId }) => promptId)
  const places = placesOf(addedByPrompt.values())
  const earliest = earliestChanges(changes)
  const disturbed = new Set([...removed, ...changed.map(({ before }) => before)].map(({ promptId }) => promptId))
  const addedCount = (promptId: number) => addedByPrompt.get(promptId)?.length ?? 0
  // In order of their IDs, so two processes cannot each wait for a prompt that the other has locked.
  const promptIds = [...earliest.keys()].sort((a, b) => a - b)
  const promptOf = (promptId: number) => ({ organisationId, id: promptId })
  const updates = [...entryNames.split(', ').map((name) => `${name} = excluded.${name}`), keepHiddenStatus].join(', ')
  const statements = promptIds.map((promptId) => growHistory(promptOf(promptId), addedCount(promptId)))
  for (const chunk of inChunks(removed)) {
    statements.push(
      statement(`delete from history_entries where ${database.haveIds()}`, [
        organisationId,
        JSON.stringify(chunk.map((entry) => entry.id)),
      ]),
    )
  }
  const insert = {
    table: 'history_entries',
    rows: [...added, ...changed.map(({ after }) => after)].map((entry) => ({
      organisation_id: organisationId,
      repository_id: id,
      ...fromEntry(entry),
      place: places.get(entry) ?? 0,
    })),
    computed: positionAtEnd,
    onConflict: `on conflict (organisation_id, prompt_id, dedupe_key) do update set ${updates}
      where history_entries.repository_id = excluded.repository_id`,
  }
  statements.push(...database.insertRows(insert))
  for (const promptId of disturbed) {
    const prompt = promptOf(promptId)
    statements.push(renumberSince(database, prompt, earliest.get(promptId) as number), updateCount(prompt))
  }
  for (const chunk of inChunks(promptIds.filter((promptId) => !disturbed.has(promptId)))) {
    const histories = chunk.map((promptId) => ({
      promptId,
      added: addedCount(promptId),
      earliest: earliest.get(promptId) as number,
    }))
    statements.push(renumberUnlessAtEnd(database, organisationId, histories))
  }
  return statements
}

/** For each new entry, how many new ones of its prompt are newer, as a negative number. Entries of one time stay in order. */
function placesOf(addedByPrompt: Iterable<DerivedEntry[]>): Map<DerivedEntry, number> {
  const places = new Map<DerivedEntry, number>()
  for (const entries of addedByPrompt) {
    const ordered = entries.toSorted((a, b) => a.createdAt - b.createdAt)
    for (const [i, entry] of ordered.entries()) places.set(entry, i + 1 - ordered.length)
  }
  return places
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

function fromEntry(entry: DerivedEntry): Row {
  return {
    prompt_id: entry.promptId,
    dedupe_key: entry.dedupeKey,
    action: entry.action,
    user_name: entry.user.name,
    user_email: entry.user.email,
    commit_sha: entry.commitSha,
    pr_number: entry.prNumber,
    pr_url: entry.prUrl,
    branch_name: entry.branchName,
    created_at: entry.createdAt,
    message: entry.message,
    actor: entry.actor,
    path: entry.path,
    old_path: entry.oldPath,
    before_blob: entry.beforeBlob,
    after_blob: entry.afterBlob,
    seq: entry.seq,
    orphaned_at: entry.orphanedAt,
    too_large: Number(entry.tooLarge),
  }
}

function toStoredEntry(row: Row): StoredEntry {
  return {
    ...toEntry(row),
    promptId: row.prompt_id as number,
    dedupeKey: row.dedupe_key as string,
    message: row.message as string,
    actor: row.actor as string | null,
    path: row.path as string,
    oldPath: row.old_path as string | null,
    beforeBlob: row.before_blob as string | null,
    afterBlob: row.after_blob as string | null,
    seq: row.seq as number | null,
    orphanedAt: row.orphaned_at as number | null,
    tooLarge: row.too_large === 1,
  }
}
