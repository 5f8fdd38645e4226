import { entriesBefore } from '../../domain/page.ts'
import { type Prompt, type PromptStore, promptSearch } from '../../domain/prompt.ts'
import { type Database, firstOrNull, only, type Row, statement } from './database.ts'
import { promptOverviews } from './prompt-overviews.ts'

export const promptColumns = 'id, public_id, organisation_id, name, created_at, repository_id, path'

export function sqlPrompts(database: Database): PromptStore {
  const byName = `name ${database.byteOrder}, id`
  const there = 'prompts where organisation_id = ? and deleted_at is null'

  return {
    overviews: promptOverviews(database),

    async create({ organisationId, publicId, name, createdAt }) {
      const [rows] = await database.change([
        statement(
          `insert into prompts (organisation_id, public_id, name, created_at) values (?, ?, ?, ?) returning ${promptColumns}`,
          [organisationId, publicId, name, createdAt],
        ),
      ])
      return toPrompt(only(rows))
    },

    async find(organisationId, publicId) {
      const sql = `select ${promptColumns} from prompts where organisation_id = ? and public_id = ? and deleted_at is null`
      return firstOrNull(await database.rows(sql, [organisationId, publicId]), toPrompt)
    },

    async findAnywhere(publicId) {
      const sql = `select ${promptColumns} from prompts where public_id = ? and deleted_at is null`
      return firstOrNull(await database.rows(sql, [publicId]), toPrompt)
    },

    async list(organisationId) {
      const sql = `select ${promptColumns} from prompts where organisation_id = ? and deleted_at is null order by id`
      return (await database.rows(sql, [organisationId])).map(toPrompt)
    },

    async page(organisationId, search, request) {
      const before = entriesBefore(request)
      if (search === '') {
        const rows = await database.rows(
          `select total.count, page.* from (select count(*) as count from ${there}) as total
           left join (select ${promptColumns} from ${there} order by ${byName} limit ? offset ?) as page on true
           order by ${byName}`,
          [organisationId, organisationId, request.limit, before],
        )
        const prompts = rows.filter((row) => row.id !== null).map(toPrompt)
        return { prompts, totalCount: only(rows).count as number }
      }
      // Searched here, because engines and the languages of databases disagree on what is the same letter in another case.
      const rows = await database.rows(`select ${promptColumns} from ${there} order by ${byName}`, [organisationId])
      const found = rows.map(toPrompt).filter(promptSearch(search))
      return { prompts: found.slice(before, before + request.limit), totalCount: found.length }
    },

    async rename({ organisationId, id }, name) {
      const [rows = []] = await database.change([
        statement(
          `update prompts set name = ? where organisation_id = ? and id = ? and deleted_at is null returning ${promptColumns}`,
          [name, organisationId, id],
        ),
      ])
      return firstOrNull(rows, toPrompt)
    },

    async delete({ organisationId, id }, at) {
      await database.change([
        statement('update prompts set deleted_at = ? where organisation_id = ? and id = ? and deleted_at is null', [
          at,
          organisationId,
          id,
        ]),
      ])
    },
  }
}

export function toPrompt(row: Row): Prompt {
  return {
    id: row.id as number,
    publicId: row.public_id as string,
    organisationId: row.organisation_id as number,
    name: row.name as string,
    createdAt: row.created_at as number,
    repositoryId: row.repository_id as number | null,
    path: row.path as string | null,
  }
}
