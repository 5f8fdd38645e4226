import type { Actor, AuditAction } from '../../domain/access/audit.ts'
import type { NewOrganisation, Organisation, OrganisationStore } from '../../domain/access/organisation.ts'
import type { Plan } from '../../domain/access/plan.ts'
import { type Instant, monthStart } from '../../domain/time.ts'
import { auditEntry } from './audit-chain.ts'
import { type Database, firstOrNull, type Row, requireRow, type Statement, statement, type Value } from './database.ts'

const columns = 'id, name, plan, created_at'
const settingColumns = 'segment_keys, delivers, undelivered, evaluation_rules'

/** What the rows of `month_usage` add up to. */
export const usedSum = 'cast(coalesce(sum(used), 0) as bigint) as used'

export async function usedInMonth(database: Database, organisationId: number, at: Instant): Promise<number> {
  const sql = `select ${usedSum} from month_usage where organisation_id = ? and month = ?`
  return requireRow(await database.rows(sql, [organisationId, monthStart(at)])).used as number
}

export function sqlOrganisations(database: Database): Omit<OrganisationStore, 'createFirst'> {
  return {
    async create(organisation) {
      const [rows] = await database.writeAndInvalidate([insertOrganisation(organisation)])
      return toOrganisation(requireRow(rows))
    },

    async find(id) {
      const rows = await database.rows(`select ${columns} from organisations where id = ?`, [id])
      return firstOrNull(rows, toOrganisation)
    },

    async list() {
      const rows = await database.rows(`select ${columns} from organisations order by id`)
      return rows.map(toOrganisation)
    },

    async usage(id, since) {
      const sql = `select month, ${usedSum} from month_usage where organisation_id = ? and month >= ? group by month`
      const rows = await database.rows(sql, [id, since])
      return new Map(rows.map(({ month, used }) => [month as number, used as number]))
    },

    async voterKey(id) {
      const [row] = await database.rows('select sealed_voter_key from organisations where id = ?', [id])
      return (row?.sealed_voter_key ?? null) as string | null
    },

    async addVoterKey(id, sealed) {
      const [, rows] = await database.write([
        statement('update organisations set sealed_voter_key = ? where id = ? and sealed_voter_key is null', [
          sealed,
          id,
        ]),
        // Another process may have been faster.
        statement('select sealed_voter_key from organisations where id = ?', [id]),
      ])
      return requireRow(rows).sealed_voter_key as string
    },

    async rename(id, name, at, by) {
      const rows = await changeOrganisation(database, id, 'organisation.renamed', at, by, ({ name: from }) => {
        return { set: 'name = ?', values: [name], from: from as string, to: name, name }
      })
      return firstOrNull(rows, (row) => ({ ...toOrganisation(row), name }))
    },

    async setPlan(id, plan, at, by) {
      const rows = await changeOrganisation(database, id, 'organisation.plan_changed', at, by, ({ plan: from }) => {
        return { set: 'plan = ?', values: [plan], from: from as string, to: plan }
      })
      return firstOrNull(rows, (row) => ({ ...toOrganisation(row), plan }))
    },
  }
}

interface OrganisationChange {
  /** The columns to set, and their values. */
  set: string
  values: Value[]
  /** As the audit log shows it. Nothing is written if both are the same. */
  from: string
  to: string
  /** The new name. */
  name?: string
}

/** Changes an organisation and records it in the audit log. Returns the row as it was. */
export async function changeOrganisation(
  database: Database,
  id: number,
  action: AuditAction,
  at: Instant,
  by: Actor,
  changeOf: (row: Row) => OrganisationChange,
): Promise<Row[]> {
  const change = (row: Row): Statement[] => {
    const { set, values, from, to, name = row.name as string } = changeOf(row)
    if (from === to) return []
    return [
      statement(`update organisations set ${set} where id = ?`, [...values, id]),
      auditEntry({ organisationId: id, by, at, action, subject: { id, name }, details: { from, to } }),
    ]
  }
  const [rows = []] = await database.writeAndInvalidate([
    {
      // Locks the row, so the audit entry records what was actually replaced.
      ...statement(`update organisations set name = name where id = ? returning ${columns}, ${settingColumns}`, [id]),
      andThen: (rows) => rows.flatMap(change),
    },
  ])
  return rows
}

function insertOrganisation({ name, plan, createdAt }: NewOrganisation) {
  return statement(`insert into organisations (name, plan, created_at) values (?, ?, ?) returning ${columns}`, [
    name,
    plan,
    createdAt,
  ])
}

export function insertFirstOrganisation({ name, plan, createdAt }: NewOrganisation) {
  return statement(
    `insert into organisations (name, plan, created_at)
     select ?, ?, ? where not exists (select 1 from organisations) returning ${columns}`,
    [name, plan, createdAt],
  )
}

export function toOrganisation(row: Row): Organisation {
  return {
    id: row.id as number,
    name: row.name as string,
    plan: row.plan as Plan,
    createdAt: row.created_at as number,
  }
}

/** Makes other transactions that lock the organisation wait. Comes first in a transaction, so that none waits for another. */
export function lockOrganisation(organisationId: number): Statement {
  return statement('update organisations set name = name where id = ?', [organisationId])
}

/** Part of a transaction, after `lockOrganisation`, that adds a row: throws if there are `most` already. `rows` comes after `from`. */
export function requireRoom(
  most: number,
  rows: string,
  parameters: (string | number)[],
  orThrow: () => Error,
): Statement {
  return { ...statement(`select 1 as room where ? > (select count(*) from ${rows})`, [most, ...parameters]), orThrow }
}
