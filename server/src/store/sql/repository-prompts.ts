import type { FactStore, Findings, RepositorySize } from '../../domain/history/facts.ts'
import type { Repository } from '../../domain/repositories/repository.ts'
import { type Database, type Row, type Statement, statement, type TypedColumn } from './database.ts'
import { promptColumns, toPrompt } from './prompts.ts'
import { requireLease } from './repositories.ts'

type PromptFacts = Pick<FactStore, 'paths' | 'addPrompts' | 'prompts' | 'formerPaths' | 'sizes'>

const newPromptColumns: TypedColumn[] = [
  { name: 'public_id', type: 'text' },
  { name: 'name', type: 'text' },
  { name: 'path', type: 'text' },
  { name: 'created_at', type: 'bigint' },
]

export function sqlRepositoryPrompts(database: Database): PromptFacts {
  const textElements = database.jsonElements('text')

  return {
    async paths({ organisationId, id }) {
      const sql = `select id, path from prompts where organisation_id = ? and repository_id = ? and path is not null`
      return idsByPath(await database.rows(sql, [organisationId, id]))
    },

    async addPrompts(lease, prompts) {
      const { organisationId, id } = lease.repository
      const records = prompts.map(({ publicId, name, path, createdAt }) => ({
        public_id: publicId,
        name,
        path,
        created_at: createdAt,
      }))
      const { from, parameters } = database.records(newPromptColumns, records)
      const insert = `insert into prompts (organisation_id, repository_id, public_id, name, path, created_at)
        select cast(? as bigint), cast(? as bigint), public_id, name, path, created_at from ${from} where true
        on conflict (organisation_id, repository_id, path) where path is not null do nothing`
      const results = await database.writeAndInvalidate([
        requireLease(lease),
        ...parameters.map((values) => statement(insert, [organisationId, id, ...values])),
        statement(
          `select id, path from prompts where organisation_id = ? and repository_id = ? and path in ${textElements}`,
          [organisationId, id, JSON.stringify(prompts.map(({ path }) => path))],
        ),
      ])
      return idsByPath(results[parameters.length + 1] ?? [])
    },

    async prompts({ organisationId, id }) {
      const sql = `select ${promptColumns} from prompts
        where organisation_id = ? and repository_id = ? and deleted_at is null order by id`
      return (await database.rows(sql, [organisationId, id])).map(toPrompt)
    },

    async formerPaths({ organisationId, id }, paths) {
      const rows = await database.rows(
        `select prompt_id as id, path from edits
         where organisation_id = ? and repository_id = ? and path in ${textElements} order by seq`,
        [organisationId, id, JSON.stringify(paths)],
      )
      return idsByPath(rows)
    },

    async sizes(organisationId, repositoryIds) {
      // Sums the counts on the prompts' rows instead of counting entries: during a backfill this runs once a second.
      const rows = await database.rows(
        `select repository_id, count(*) as prompts, cast(sum(history_count) as bigint) as entries from prompts
         where organisation_id = ? and ${database.inJsonArray('repository_id', 'bigint')} and path is not null and deleted_at is null
         group by repository_id`,
        [organisationId, JSON.stringify(repositoryIds)],
      )
      const sizes = rows.map(({ repository_id, prompts, entries }) => [repository_id, { prompts, entries }])
      return new Map(sizes as [number, RepositorySize][])
    },
  }
}

/** Works in two steps, because prompts may have swapped paths. A prompt that is named after its path is renamed with it. */
export function movePrompts({ organisationId }: Repository, { paths = [] }: Findings): Statement[] {
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

function idsByPath(rows: Row[]): Map<string, number> {
  return new Map(rows.map(({ id, path }) => [path as string, id as number]))
}
