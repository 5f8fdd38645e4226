import type { FactStore, Findings, RepositorySize } from '../../domain/history/facts.ts'
import { namesForPath, type Prompt } from '../../domain/prompt.ts'
import type { Repository } from '../../domain/repositories/repository.ts'
import { type Database, type Row, type Statement, statement, type Value } from './database.ts'
import { lockOrganisation } from './organisations.ts'
import { assignNames, promptColumns, toPrompt } from './prompts.ts'
import { requireLease } from './repositories.ts'

type PromptFacts = Pick<FactStore, 'paths' | 'addPrompts' | 'prompts' | 'formerPaths' | 'sizes'>

export function sqlRepositoryPrompts(database: Database): PromptFacts {
  const textElements = database.jsonElements('text')

  return {
    async paths({ organisationId, id }) {
      const sql = `select id, path from prompts where organisation_id = ? and repository_id = ? and path is not null`
      return idsByPath(await database.rows(sql, [organisationId, id]))
    },

    async addPrompts(lease, prompts) {
      const { organisationId, id, url } = lease.repository
      const insertAll = (names: string[]) =>
        database.insertRows({
          table: 'prompts',
          rows: prompts.map(({ publicId, path, createdAt }, i) => ({
            organisation_id: organisationId,
            repository_id: id,
            public_id: publicId,
            name: names[i] as string,
            path,
            created_at: createdAt,
            has_unique_name: 1,
          })),
          onConflict: 'on conflict (organisation_id, repository_id, path) where path is not null do nothing',
        })
      const names = prompts.map(({ path, publicId }) => namesForPath(path, publicId, url))
      const [, , , rows = []] = await database.writeAndInvalidate([
        lockOrganisation(organisationId),
        requireLease(lease),
        assignNames(database, organisationId, names, insertAll),
        statement(
          `select id, path from prompts where organisation_id = ? and repository_id = ? and path in ${textElements}`,
          [organisationId, id, JSON.stringify(prompts.map(({ path }) => path))],
        ),
      ])
      return idsByPath(rows)
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

/**
 * Works in two steps, because prompts may have swapped paths. A prompt that is named after its path is renamed with it. Comes
 * after `lockOrganisation`.
 */
export function movePrompts(
  database: Database,
  { organisationId, url }: Repository,
  { paths = [] }: Findings,
): Statement[] {
  if (paths.length === 0) return []
  const update = (columns: string, promptId: number, values: Value[] = []) =>
    statement(`update prompts set ${columns} where organisation_id = ? and id = ?`, [
      ...values,
      organisationId,
      promptId,
    ])
  const promptIds = JSON.stringify(paths.map(({ promptId }) => promptId))
  return [
    {
      ...statement(`select ${promptColumns} from prompts where ${database.haveIds()}`, [organisationId, promptIds]),
      andThen(rows) {
        const prompts = new Map(rows.map(toPrompt).map((prompt) => [prompt.id, prompt]))
        const renamed = paths.flatMap(({ promptId, path }) => {
          const { name, path: oldPath, publicId } = prompts.get(promptId) as Prompt
          const isNamedAfterPath = namesForPath(oldPath, publicId, url).includes(name)
          return isNamedAfterPath ? [{ promptId, names: namesForPath(path, publicId, url) }] : []
        })
        const wanted = renamed.map(({ names }) => names)
        return [
          ...paths.map(({ promptId }) => update('path = null', promptId)),
          ...renamed.map(({ promptId }) => update(`name = '', has_unique_name = null`, promptId)),
          assignNames(database, organisationId, wanted, (names) =>
            renamed.map(({ promptId }, i) => update('name = ?, has_unique_name = 1', promptId, [names[i] as string])),
          ),
          ...paths.map(({ promptId, path }) => update('path = ?', promptId, [path])),
        ]
      },
    },
  ]
}

function idsByPath(rows: Row[]): Map<string, number> {
  return new Map(rows.map(({ id, path }) => [path as string, id as number]))
}
