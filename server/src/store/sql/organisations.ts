import type { NewOrganisation, Organisation, OrganisationStore } from '../../domain/organisation.ts'
import type { Plan } from '../../domain/plan.ts'
import { type Database, firstOrNull, only, type Row, statement } from './database.ts'

const columns = 'id, name, plan, created_at'

export function sqlOrganisations(database: Database): Omit<OrganisationStore, 'createFirst'> {
  return {
    async create(organisation) {
      const [rows] = await database.change([insertOrganisation(organisation)])
      return toOrganisation(only(rows))
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
      const sql = 'select month, used from signal_usage where organisation_id = ? and month >= ?'
      const rows = await database.rows(sql, [id, since])
      return new Map(rows.map(({ month, used }) => [month as number, used as number]))
    },

    async setPlan(id, plan) {
      const update = statement(`update organisations set plan = ? where id = ? returning ${columns}`, [plan, id])
      const [rows = []] = await database.change([update])
      return firstOrNull(rows, toOrganisation)
    },
  }
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
