import { type PageRequest, pageOffset } from '../../domain/page.ts'
import { matchesFilter, nameTaken, type Prompt, type PromptOrder, type PromptStore } from '../../domain/prompt.ts'
import { filterInTurns, type Instant } from '../../domain/time.ts'
import { auditOf } from './audit-chain.ts'
import { countRows, type Database, firstOrNull, type Row, requireRow, type Statement, statement } from './database.ts'
import { wentLive } from './history-rows.ts'
import { checkNotices } from './notice-changes.ts'
import { lockOrganisation } from './organisations.ts'

export const promptColumns = 'id, public_id, organisation_id, name, created_at, repository_id, path'

const maxNamesakes = 1_000

export function sqlPrompts(database: Database): PromptStore {
  const existing = 'prompts where organisation_id = ? and deleted_at is null'

  function orderBy({ by, descending, since }: PromptOrder): string {
    const direction = descending ? 'desc' : 'asc'
    if (by === 'name') return `${database.byName(direction)}, id`
    const keys = (
      isFromTotals(by) ? ['(select key from totals where prompt_id = prompts.id)'] : sortKeys(by, since)
    ).map((key) => `${key} ${direction} nulls last`)
    if (by === 'regression') keys.push(`${ranking('positive_share')} nulls last`)
    return `${keys.join(', ')}, ${database.byName('asc')}, id`
  }

  // Citus does not look into another table for each row. It reads the totals of all prompts first.
  const isFromTotals = (by: PromptOrder['by']) =>
    database.isDistributed && (by === 'signals' || by === 'positive_share')

  /** With the organisation as a parameter: every text of a statement is kept, by this process and by PostgreSQL. */
  function totalsFor(organisationId: number, { by, since }: PromptOrder): Statement {
    if (!isFromTotals(by)) return statement('')
    return statement(
      `with totals as materialized (
         select prompt_id, ${sumOf(by)} as key from hour_sums where organisation_id = ? and hour >= ${since}
         group by prompt_id having sum(positive + negative) > 0)`,
      [organisationId],
    )
  }

  /** Looks for the few open regressions first: computing the order of all prompts takes three times as long as a page by name. */
  async function pageByRegression(organisationId: number, { descending }: PromptOrder, request: PageRequest) {
    const offset = pageOffset(request)
    const open = await database.rows(
      `select ${promptColumns.replaceAll(/\w+/g, 'p.$&')} from (
         select prompt_id, min(difference) as loss from regressions where organisation_id = ? and state = 'open' group by prompt_id
       ) as open join prompts p on p.organisation_id = ? and p.id = open.prompt_id
       where p.deleted_at is null order by open.loss ${descending ? 'desc' : 'asc'}, ${database.byName('asc', 'p.')}, p.id`,
      [organisationId, organisationId],
    )
    const first = open.slice(offset, offset + request.limit)
    if (first.length === request.limit) return first
    const rest = await database.rows(
      `select ${promptColumns} from ${existing} and not exists (select 1 from regressions
         where organisation_id = prompts.organisation_id and prompt_id = prompts.id and state = 'open')
       order by ${ranking('positive_share')} nulls last, ${database.byName('asc')}, id limit ? offset ?`,
      [organisationId, request.limit - first.length, Math.max(0, offset - open.length)],
    )
    return [...first, ...rest]
  }

  return {
    async create(prompt, by) {
      const { organisationId, publicId, name, createdAt } = prompt
      const [, , rows] = await database.writeAndInvalidate([
        lockOrganisation(organisationId),
        requireFreeName(database, organisationId, name),
        statement(
          `insert into prompts (organisation_id, public_id, name, created_at, has_unique_name) values (?, ?, ?, ?, 1)
           returning ${promptColumns}`,
          [organisationId, publicId, name, createdAt],
        ),
        auditOf(prompt, 'prompt.created', createdAt, by),
      ])
      return toPrompt(requireRow(rows))
    },

    async find(organisationId, publicId) {
      const sql = `select ${promptColumns} from prompts where organisation_id = ? and public_id = ? and deleted_at is null`
      return firstOrNull(await database.rows(sql, [organisationId, publicId]), toPrompt)
    },

    async named(organisationId, text) {
      const having = (column: string) => `select ${promptColumns} from ${existing} and ${isText(database, column)}`
      // A union, because a database may not combine the two indexes for an `or`.
      const sql = `${having('name')} union ${having('path')} order by id limit ${maxNamesakes}`
      const parameters = [organisationId, text, text]
      return (await database.rows(sql, [...parameters, ...parameters])).map(toPrompt)
    },

    async namedInAnyOrganisation(text) {
      const sql = `select ${promptColumns} from prompts
        where deleted_at is null and (name = ? or path = ?) order by id limit ${maxNamesakes}`
      return (await database.rows(sql, [text, text])).map(toPrompt)
    },

    async findInAnyOrganisation(publicId) {
      const sql = `select ${promptColumns} from prompts where public_id = ? and deleted_at is null`
      return firstOrNull(await database.rows(sql, [publicId]), toPrompt)
    },

    async list(organisationId) {
      const sql = `select ${promptColumns} from prompts where organisation_id = ? and deleted_at is null order by id`
      return (await database.rows(sql, [organisationId])).map(toPrompt)
    },

    async withIds(organisationId, ids) {
      const sql = `select ${promptColumns} from prompts where deleted_at is null and ${database.haveIds()}`
      return (await database.rows(sql, [organisationId, JSON.stringify(ids)])).map(toPrompt)
    },

    async changedSince(organisationId, since, limit) {
      const newest = `(select max(h.created_at) from history_entries h
        where h.organisation_id = prompts.organisation_id and h.prompt_id = prompts.id and h.${wentLive})`
      const sql = `select ${promptColumns} from (select ${promptColumns}, ${newest} as changed_at from ${existing}) as changed
        where changed_at >= ? order by changed_at desc, id limit ?`
      return (await database.rows(sql, [organisationId, since, limit])).map(toPrompt)
    },

    async page(organisationId, filter, order, request) {
      const offset = pageOffset(request)
      const totals = totalsFor(organisationId, order)
      const select = `${totals.sql} select ${promptColumns} from ${existing} order by ${orderBy(order)}`
      if (filter.search === '' && filter.glob === null) {
        const [totalCount, rows] = await Promise.all([
          countRows(database, existing, [organisationId]),
          order.by === 'regression'
            ? pageByRegression(organisationId, order, request)
            : database.rows(`${select} limit ? offset ?`, [
                ...totals.parameters,
                organisationId,
                request.limit,
                offset,
              ]),
        ])
        return { prompts: rows.map(toPrompt), totalCount }
      }
      // Filtered here rather than in SQL, because engines and locales disagree on case-insensitive matching.
      const all = await database.rows(`select id, name, path from ${existing}`, [organisationId])
      const matches = matchesFilter(filter)
      const isListed = (row: Row) => matches({ name: row.name as string, path: row.path as string | null })
      const ids = (await filterInTurns(all, isListed)).map(({ id }) => id)
      // The order of those that match: computing it for all prompts takes several times as long.
      const rows = await database.rows(
        `${totals.sql} select ${promptColumns} from ${existing} and ${database.inJsonArray('id', 'bigint')} order by ${orderBy(order)} limit ? offset ?`,
        [...totals.parameters, organisationId, JSON.stringify(ids), request.limit, offset],
      )
      return { prompts: rows.map(toPrompt), totalCount: ids.length }
    },

    async rename(prompt, name, at, by) {
      const { organisationId, id, name: from } = prompt
      const [, , rows = []] = await database.writeAndInvalidate([
        lockOrganisation(organisationId),
        requireFreeName(database, organisationId, name, id),
        {
          ...statement(
            `update prompts set name = ?, has_unique_name = case when name = ? then has_unique_name else 1 end
             where organisation_id = ? and id = ? and deleted_at is null returning ${promptColumns}`,
            [name, name, organisationId, id],
          ),
          andThen: (rows) => rows.map(() => auditOf({ ...prompt, name }, 'prompt.renamed', at, by, { from })),
        },
      ])
      return firstOrNull(rows, toPrompt)
    },

    async delete(prompt, at, by) {
      const { organisationId, id } = prompt
      const deleted = ({ name }: Row) => auditOf({ ...prompt, name: name as string }, 'prompt.deleted', at, by)
      await database.writeAndInvalidate([
        {
          ...statement(
            `update prompts set deleted_at = ? where organisation_id = ? and id = ? and deleted_at is null returning name`,
            [at, organisationId, id],
          ),
          andThen: (rows) => rows.flatMap((row) => [checkNotices(organisationId, id, at), deleted(row)]),
        },
      ])
    },
  }
}

const ofPrompt = 'organisation_id = prompts.organisation_id and prompt_id = prompts.id'
const rankOfVerdict = `case verdict when 'worse' then 1 when 'unexplained' then 2 when 'no_difference_seen' then 3
  when 'better' then 4 end`

/** What the judge found. */
function ranking(expression: string): string {
  return `(select ${expression} from prompt_standings where ${ofPrompt})`
}

function sortKeys(by: Exclude<PromptOrder['by'], 'name'>, since: Instant): string[] {
  if (by === 'last_change') return [`(select max(created_at) from history_entries where ${ofPrompt} and ${wentLive})`]
  if (by === 'effect') return [ranking(rankOfVerdict), ranking('difference')]
  // The largest loss first, so the numbers, which are negative, ascend.
  if (by === 'regression') return [`(select min(difference) from regressions where ${ofPrompt} and state = 'open')`]
  return [
    `(select ${sumOf(by)} from hour_sums where ${ofPrompt} and hour >= ${since} having sum(positive + negative) > 0)`,
  ]
}

function sumOf(by: PromptOrder['by']): string {
  return by === 'signals' ? 'sum(positive + negative)' : 'sum(positive) * 1.0 / sum(positive + negative)'
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

/**
 * Names of prompts are unique within an organisation. Only prompts from before that rule may share one. Transactions that assign
 * names lock the organisation first, so that a name that they find free stays free; the unique index is for mistakes in that.
 */
const sameName = 'organisation_id = ? and deleted_at is null'

/** A condition on a name or path, which takes the text as two parameters. */
function isText(database: Database, column: string): string {
  return `${database.textKey(column)} = ${database.textKey('cast(? as text)')} and ${column} = ?`
}

/** Throws if another prompt has the name. A prompt from before the rule may keep the one that it has. */
function requireFreeName(
  database: Database,
  organisationId: number,
  name: string,
  promptId: number | null = null,
): Statement {
  const id = promptId ?? 0
  return {
    ...statement(
      `select public_id from prompts where ${sameName} and ${isText(database, 'name')} and id <> ?
         and not exists (select 1 from prompts as renamed where organisation_id = ? and id = ? and name = ?)
       order by id limit 1`,
      [organisationId, name, name, id, organisationId, id, name],
    ),
    andThen([taken]) {
      if (taken !== undefined) throw nameTaken(taken.public_id as string)
      return []
    },
  }
}

/**
 * Gives each item of `wanted` the first of its names that no prompt has, or the last one, which must be free by design, and
 * runs the statements that `store` makes of the names.
 */
export function assignNames(
  database: Database,
  organisationId: number,
  wanted: string[][],
  store: (names: string[]) => Statement[],
): Statement {
  const keys = `(select ${database.textKey('name')} from ${database.jsonRecords({ name: 'text' })})`
  return {
    ...statement(`select name from prompts where ${sameName} and ${database.textKey('name')} in ${keys}`, [
      organisationId,
      JSON.stringify([...new Set(wanted.flat())].map((name) => ({ name }))),
    ]),
    andThen(rows) {
      const taken = new Set(rows.map(({ name }) => name as string))
      const names = wanted.map((options) => {
        const name = options.find((option) => !taken.has(option)) ?? (options.at(-1) as string)
        taken.add(name)
        return name
      })
      return store(names)
    },
  }
}
