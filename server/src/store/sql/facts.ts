import type { Edit } from '../../domain/history/edit.ts'
import type { EntryChanges, FactStore, Findings, RepositorySize } from '../../domain/history/facts.ts'
import { isSettled, type Pull } from '../../domain/history/pull.ts'
import type { Repository } from '../../domain/repositories/repository.ts'
import { type Database, only, type Row, type StagedColumn, type Statement, statement, type Value } from './database.ts'
import { finishDelivery } from './deliveries.ts'
import { editColumns, fromEdit, toEdit } from './edit-rows.ts'
import { entryColumns, fromEntry, toStoredEntry } from './entry-rows.ts'
import { lockHistory, renumberSince, updateCount } from './history.ts'
import { promptColumns, toPrompt } from './prompts.ts'
import { holdLease } from './repositories.ts'

export function sqlFacts(database: Database): FactStore {
  const textElements = database.elements('text')
  const integerElements = database.elements('bigint')

  const editsWhere = async (repository: Repository, condition: string, value: Value) => {
    const sql = `select ${namesOf(editColumns)} from edits
      where organisation_id = ? and repository_id = ? and ${condition}`
    return (await database.rows(sql, [repository.organisationId, repository.id, value])).map(toEdit)
  }

  return {
    async paths({ organisationId, id }) {
      const sql = `select id, path from prompts where organisation_id = ? and repository_id = ? and path is not null`
      return pathMap(await database.rows(sql, [organisationId, id]))
    },

    async addPrompts(lease, prompts) {
      const { organisationId, id } = lease.repository
      const records = prompts.map(({ publicId, name, path, createdAt }) => ({
        public_id: publicId,
        name,
        path,
        created_at: createdAt,
      }))
      const [, , rows = []] = await database.change([
        holdLease(lease),
        statement(
          `insert into prompts (organisation_id, repository_id, public_id, name, path, created_at)
           select cast(? as bigint), cast(? as bigint), public_id, name, path, created_at
           from ${database.records(newPromptColumns)} where true
           on conflict (organisation_id, repository_id, path) where path is not null do nothing`,
          [organisationId, id, JSON.stringify(records)],
        ),
        statement(
          `select id, path from prompts where organisation_id = ? and repository_id = ? and path in ${textElements}`,
          [organisationId, id, JSON.stringify(prompts.map(({ path }) => path))],
        ),
      ])
      return pathMap(rows)
    },

    async prompts({ organisationId, id }) {
      const sql = `select ${promptColumns} from prompts
        where organisation_id = ? and repository_id = ? and deleted_at is null order by id`
      return (await database.rows(sql, [organisationId, id])).map(toPrompt)
    },

    async edits(repository, { commits = [], pulls = [], heldUntil }) {
      const found = await Promise.all([
        commits.length === 0 ? [] : editsWhere(repository, `commit_sha in ${textElements}`, JSON.stringify(commits)),
        pulls.length === 0 ? [] : editsWhere(repository, `pull in ${integerElements}`, JSON.stringify(pulls)),
        pulls.length === 0 ? [] : editsWhere(repository, `mark in ${integerElements}`, JSON.stringify(pulls)),
        heldUntil === undefined ? [] : editsWhere(repository, 'held_until <= ?', heldUntil),
      ])
      return uniqueEdits(found.flat())
    },

    async landedEdits({ organisationId, id }) {
      const rows = await database.rows(
        `select seq, commit_sha, prompt_id, path, old_path, new_blob from edits
         where organisation_id = ? and repository_id = ? and orphaned_at is null order by seq`,
        [organisationId, id],
      )
      return rows.map((row) => ({
        seq: row.seq as number,
        commitSha: row.commit_sha as string,
        promptId: row.prompt_id as number,
        path: row.path as string,
        oldPath: row.old_path as string | null,
        newBlob: row.new_blob as string | null,
      }))
    },

    async formerPaths({ organisationId, id }, paths) {
      const rows = await database.rows(
        `select prompt_id as id, path from edits
         where organisation_id = ? and repository_id = ? and path in ${textElements} order by seq`,
        [organisationId, id, JSON.stringify(paths)],
      )
      return pathMap(rows)
    },

    async lastSeq({ organisationId, id }) {
      const sql = 'select max(seq) as seq from edits where organisation_id = ? and repository_id = ?'
      return (only(await database.rows(sql, [organisationId, id])).seq as number | null) ?? 0
    },

    async nextHeld({ organisationId, id }) {
      const sql = `select min(held_until) as at from edits
        where organisation_id = ? and repository_id = ? and held_until is not null`
      return only(await database.rows(sql, [organisationId, id])).at as number | null
    },

    async pulls({ organisationId, id }, numbers) {
      if (numbers.length === 0) return []
      const sql = `select document from pulls where organisation_id = ? and repository_id = ? and number in ${integerElements}`
      return (await database.rows(sql, [organisationId, id, JSON.stringify(numbers)])).map(toPull)
    },

    async unsettledPulls({ organisationId, id }) {
      const sql =
        'select document from pulls where organisation_id = ? and repository_id = ? and settled = 0 order by number'
      return (await database.rows(sql, [organisationId, id])).map(toPull)
    },

    async pullsTouching({ organisationId, id }, paths) {
      const found = new Map<number, Pull>()
      for (const path of paths) {
        // A path with wildcards of its own finds too many, which does no harm.
        const rows = await database.rows(
          'select document from pulls where organisation_id = ? and repository_id = ? and document like ?',
          [organisationId, id, `%"path":${JSON.stringify(path).replaceAll('\\', '_')}%`],
        )
        for (const pull of rows.map(toPull)) found.set(pull.number, pull)
      }
      return [...found.values()]
    },

    async entries({ organisationId, id }, { commits, pulls }) {
      const entriesWhere = async (condition: string, values: (string | number)[]) => {
        if (values.length === 0) return []
        const sql = `select id, ${namesOf(entryColumns)} from history_entries
          where organisation_id = ? and repository_id = ? and ${condition}`
        return (await database.rows(sql, [organisationId, id, JSON.stringify(values)])).map(toStoredEntry)
      }
      const byCommit = await entriesWhere(
        `dedupe_key in ${textElements}`,
        commits.map((sha) => `c:${sha}`),
      )
      const byPull = await entriesWhere(`pr_number in ${integerElements}`, pulls)
      return [...new Map([...byCommit, ...byPull].map((entry) => [entry.id, entry])).values()]
    },

    async countEntries({ organisationId, id }) {
      const sql = 'select count(*) as count from history_entries where organisation_id = ? and repository_id = ?'
      return only(await database.rows(sql, [organisationId, id])).count as number
    },

    async sizes(organisationId, repositoryIds) {
      // By what each prompt's row says of its history: however long that is, this is asked once a second while it grows.
      const rows = await database.rows(
        `select repository_id, count(*) as prompts, cast(sum(history_count) as bigint) as entries from prompts
         where organisation_id = ? and ${database.among('repository_id', 'bigint')} and path is not null and deleted_at is null
         group by repository_id`,
        [organisationId, JSON.stringify(repositoryIds)],
      )
      const sizes = rows.map(({ repository_id, prompts, entries }) => [repository_id, { prompts, entries }])
      return new Map(sizes as [number, RepositorySize][])
    },

    async apply(lease, findings) {
      const { repository } = lease
      const statements = [
        holdLease(lease),
        ...updateRepository(repository, findings),
        ...movePrompts(repository, findings),
        ...putEdits(database, repository, findings.edits ?? []),
        ...(findings.pulls ?? []).map((pull) => putPull(repository, pull)),
        ...changeEntries(database, repository, findings.entries),
        ...(findings.deliveries ?? []).map((outcome) => finishDelivery(repository.organisationId, outcome)),
      ]
      // Memory holds prompts and pages, which most deliveries leave as they are.
      await (isVisible(findings) ? database.change(statements) : database.write(statements))
    },
  }
}

function isVisible({ paths = [], entries = noChanges }: Findings): boolean {
  return paths.length + entries.added.length + entries.changed.length + entries.removed.length > 0
}

function updateRepository({ organisationId, id }: Repository, findings: Findings): Statement[] {
  const { defaultBranch, tip, webUrl, incomplete } = findings
  const found: [string, Value | undefined][] = [
    ['default_branch', defaultBranch],
    ['tip', tip],
    ['web_url', webUrl],
    ['incomplete', incomplete === undefined ? undefined : Number(incomplete)],
  ]
  return found.flatMap(([column, value]) =>
    value === undefined
      ? []
      : [
          statement(`update repositories set ${column} = ? where organisation_id = ? and id = ?`, [
            value,
            organisationId,
            id,
          ]),
        ],
  )
}

/** In two steps, because two prompts may have changed places. A name that was the path goes with it. */
function movePrompts({ organisationId }: Repository, { paths = [] }: Findings): Statement[] {
  return [
    ...paths.map(({ promptId }) =>
      statement(
        `update prompts set name = case when name = path then '' else name end, path = null
         where organisation_id = ? and id = ?`,
        [organisationId, promptId],
      ),
    ),
    ...paths.map(({ promptId, path }) =>
      statement(
        `update prompts set path = ?, name = case when name = '' then coalesce(?, 'moved') else name end
         where organisation_id = ? and id = ?`,
        [path, path, organisationId, promptId],
      ),
    ),
  ]
}

const newPromptColumns: StagedColumn[] = [
  { name: 'public_id', type: 'text' },
  { name: 'name', type: 'text' },
  { name: 'path', type: 'text' },
  { name: 'created_at', type: 'bigint' },
]

function putEdits(database: Database, { organisationId, id }: Repository, edits: Edit[]): Statement[] {
  const names = namesOf(editColumns)
  return inChunks(edits).map((chunk) =>
    statement(
      `insert into edits (organisation_id, repository_id, ${names})
       select cast(? as bigint), cast(? as bigint), ${names} from ${database.records(editColumns)} where true
       on conflict (organisation_id, repository_id, commit_sha, prompt_id) do update set
         seq = excluded.seq, actor = excluded.actor, mark = excluded.mark, pull = excluded.pull,
         held_until = excluded.held_until, orphaned_at = excluded.orphaned_at`,
      [organisationId, id, JSON.stringify(chunk.map(fromEdit))],
    ),
  )
}

// A commit can change thousands of files, and each row repeats its message.
const chunkSize = 500

function inChunks<T>(items: T[]): T[][] {
  const count = Math.ceil(items.length / chunkSize)
  return Array.from({ length: count }, (_, i) => items.slice(i * chunkSize, (i + 1) * chunkSize))
}

function putPull({ organisationId, id }: Repository, pull: Pull): Statement {
  return statement(
    `insert into pulls (organisation_id, repository_id, number, settled, document) values (?, ?, ?, ?, ?)
     on conflict (organisation_id, repository_id, number) do update set
       settled = excluded.settled, document = excluded.document`,
    [organisationId, id, pull.number, Number(isSettled(pull)), JSON.stringify(pull)],
  )
}

const noChanges: EntryChanges = { added: [], changed: [], removed: [] }

function changeEntries(database: Database, repository: Repository, changes: EntryChanges = noChanges): Statement[] {
  const { added, changed, removed } = changes
  const { organisationId, id } = repository
  const earliest = earliestOf(changes)
  const prompts = [...earliest.keys()].sort((a, b) => a - b).map((promptId) => ({ organisationId, id: promptId }))
  const names = namesOf(entryColumns)
  const updates = entryColumns.map(({ name }) => `${name} = excluded.${name}`).join(', ')
  const statements = prompts.map(lockHistory)
  for (const chunk of inChunks(removed)) {
    statements.push(
      statement(`delete from history_entries where organisation_id = ? and id in ${database.elements('bigint')}`, [
        organisationId,
        JSON.stringify(chunk.map((entry) => entry.id)),
      ]),
    )
  }
  for (const chunk of inChunks([...added, ...changed.map(({ after }) => after)])) {
    statements.push(
      statement(
        `insert into history_entries (organisation_id, repository_id, position, ${names})
         select cast(? as bigint), cast(? as bigint), 0, ${names} from ${database.records(entryColumns)} where true
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

/** From when on the entries of each prompt have to be numbered anew. */
function earliestOf({ added, changed, removed }: EntryChanges): Map<number, number> {
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

function namesOf(columns: StagedColumn[]): string {
  return columns.map(({ name }) => name).join(', ')
}

function pathMap(rows: Row[]): Map<string, number> {
  return new Map(rows.map(({ id, path }) => [path as string, id as number]))
}

function uniqueEdits(edits: Edit[]): Edit[] {
  const unique = new Map(edits.map((edit) => [`${edit.commitSha} ${edit.promptId}`, edit]))
  return [...unique.values()].sort((a, b) => a.seq - b.seq)
}

function toPull({ document }: Row): Pull {
  return JSON.parse(document as string)
}
