import { entriesBefore } from '../../domain/page.ts'
import { type Prompt, type PromptOrder, type PromptStore, promptSearch } from '../../domain/prompt.ts'
import type { Instant } from '../../domain/time.ts'
import { auditEntry } from './audit.ts'
import { type Database, firstOrNull, only, type Row, statement } from './database.ts'
import { wentLive } from './history-rows.ts'

export const promptColumns = 'id, public_id, organisation_id, name, created_at, repository_id, path'

export function sqlPrompts(database: Database): PromptStore {
  const byName = `name ${database.byteOrder}`
  const there = 'prompts where organisation_id = ? and deleted_at is null'

  function orderBy({ by, descending, since }: PromptOrder): string {
    const direction = descending ? 'desc' : 'asc'
    if (by === 'name') return `${byName} ${direction}, id`
    return `${sortKey(by, since)} ${direction} nulls last, ${byName}, id`
  }

  return {
    async create({ organisationId, publicId, name, createdAt }, by) {
      const subject = { id: publicId, name }
      const [rows] = await database.change([
        statement(
          `insert into prompts (organisation_id, public_id, name, created_at) values (?, ?, ?, ?) returning ${promptColumns}`,
          [organisationId, publicId, name, createdAt],
        ),
        auditEntry({ organisationId, by, at: createdAt, action: 'prompt.created', subject }),
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

    async page(organisationId, search, order, request) {
      const before = entriesBefore(request)
      const select = `select ${promptColumns} from ${there} order by ${orderBy(order)}`
      if (search === '') {
        const [counted, rows] = await Promise.all([
          database.rows(`select count(*) as count from ${there}`, [organisationId]),
          database.rows(`${select} limit ? offset ?`, [organisationId, request.limit, before]),
        ])
        return { prompts: rows.map(toPrompt), totalCount: only(counted).count as number }
      }
      // Searched here, because engines and the languages of databases disagree on what is the same letter in another case.
      const found = (await database.rows(select, [organisationId])).map(toPrompt).filter(promptSearch(search))
      return { prompts: found.slice(before, before + request.limit), totalCount: found.length }
    },

    async rename({ organisationId, id, publicId, name: from }, name, at, by) {
      const subject = { id: publicId, name }
      const renamed = auditEntry({ organisationId, by, at, action: 'prompt.renamed', subject, details: { from } })
      const [rows = []] = await database.change([
        {
          ...statement(
            `update prompts set name = ? where organisation_id = ? and id = ? and deleted_at is null returning ${promptColumns}`,
            [name, organisationId, id],
          ),
          andThen: (rows) => rows.map(() => renamed),
        },
      ])
      return firstOrNull(rows, toPrompt)
    },

    async delete({ organisationId, id, publicId }, at, by) {
      const deleted = ({ name }: Row) => {
        const subject = { id: publicId, name: name as string }
        return auditEntry({ organisationId, by, at, action: 'prompt.deleted', subject })
      }
      await database.change([
        {
          ...statement(
            `update prompts set deleted_at = ? where organisation_id = ? and id = ? and deleted_at is null returning name`,
            [at, organisationId, id],
          ),
          andThen: (rows) => rows.map(deleted),
        },
      ])
    },
  }
}

function sortKey(by: Exclude<PromptOrder['by'], 'name'>, since: Instant): string {
  const ofPrompt = 'organisation_id = prompts.organisation_id and prompt_id = prompts.id'
  if (by === 'last_change') return `(select max(created_at) from history_entries where ${ofPrompt} and ${wentLive})`
  const sum = by === 'signals' ? 'sum(positive + negative)' : 'sum(positive) * 1.0 / sum(positive + negative)'
  return `(select ${sum} from signal_hours where ${ofPrompt} and hour >= ${since} having sum(positive + negative) > 0)`
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
