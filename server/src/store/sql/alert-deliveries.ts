import type { Alert, Channel } from '../../domain/alerts/alert.ts'
import type {
  AlertDelivery,
  AlertDeliveryState,
  AlertDeliveryStore,
  ListedAlertDelivery,
} from '../../domain/alerts/delivery.ts'
import type { AlertEvent } from '../../domain/alerts/event.ts'
import type { Message } from '../../domain/alerts/message.ts'
import { pageOffset } from '../../domain/page.ts'
import type { Instant } from '../../domain/time.ts'
import { type Database, firstOrNull, type Row, requireRow, type Statement, statement, type Value } from './database.ts'

const ownColumns = `id, organisation_id, public_id, alert_id, event, message, state, attempts, due_at, status, response, error,
  created_at, finished_at`
const columns = ownColumns.replaceAll(/\w+/g, 'd.$&')
const maxOfRegression = 100

export function sqlAlertDeliveries(database: Database): AlertDeliveryStore {
  const listed = async (condition: string, parameters: Value[], order = ''): Promise<ListedAlertDelivery[]> => {
    const rows = await database.rows(
      `select ${columns}, a.public_id as alert_public_id, a.name as alert_name, a.channel from alert_deliveries d
       left join alerts a on a.organisation_id = d.organisation_id and a.id = d.alert_id
       where d.organisation_id = ? and ${condition} ${order}`,
      parameters,
    )
    return rows.map(toListedDelivery)
  }

  return {
    async page(organisationId, alertId, request) {
      const condition = alertId === null ? '1 = 1' : 'd.alert_id = ?'
      const parameters = [organisationId, ...(alertId === null ? [] : [alertId])]
      const count = `select count(*) as count from alert_deliveries d where d.organisation_id = ? and ${condition}`
      const [counts, deliveries] = await Promise.all([
        database.rows(count, parameters),
        listed(condition, [...parameters, request.limit, pageOffset(request)], 'order by d.id desc limit ? offset ?'),
      ])
      return { deliveries, totalCount: requireRow(counts).count as number }
    },

    async find(organisationId, publicId) {
      const [delivery] = await listed('d.public_id = ?', [organisationId, publicId])
      return delivery ?? null
    },

    async newestOfEach(organisationId) {
      const rows = await database.rows(
        `select ${columns} from alert_deliveries d where d.organisation_id = ? and d.id in (
           select max(id) from alert_deliveries where organisation_id = ? and alert_id is not null group by alert_id)`,
        [organisationId, organisationId],
      )
      return rows.map(toDelivery)
    },

    ofRegression: (organisationId, regressionId) =>
      listed(
        `d.notice_id in (select notice_id from notice_regressions where organisation_id = ? and regression_id = ?)`,
        [organisationId, organisationId, regressionId],
        `order by d.id desc limit ${maxOfRegression}`,
      ),

    async retry({ organisationId, id }, at) {
      const [rows = []] = await database.write([
        statement(
          `update alert_deliveries set state = 'pending', attempts = 0, due_at = ?, lease_owner = null, finished_at = null
           where organisation_id = ? and id = ? and state = 'failed' returning ${ownColumns}`,
          [at, organisationId, id],
        ),
      ])
      return firstOrNull(rows, toDelivery)
    },
  }
}

/** Cancels what is waiting for an alert. One that is being sent right now may still arrive. */
export function cancelPending({ organisationId, id }: Alert, reason: string, at: Instant): Statement {
  return statement(
    `update alert_deliveries set state = 'cancelled', error = ?, finished_at = ?, lease_owner = null
     where organisation_id = ? and alert_id = ? and state = 'pending'`,
    [reason, at, organisationId, id],
  )
}

function toDelivery(row: Row): AlertDelivery {
  return {
    id: row.id as number,
    organisationId: row.organisation_id as number,
    publicId: row.public_id as string,
    alertId: row.alert_id as number | null,
    event: row.event as AlertEvent,
    message: JSON.parse(row.message as string) as Message,
    state: row.state as AlertDeliveryState,
    attempts: row.attempts as number,
    dueAt: row.due_at as number,
    status: row.status as number | null,
    response: row.response as string | null,
    error: row.error as string | null,
    createdAt: row.created_at as number,
    finishedAt: row.finished_at as number | null,
  }
}

function toListedDelivery(row: Row): ListedAlertDelivery {
  const publicId = row.alert_public_id as string | null
  const alert = publicId === null ? null : { publicId, name: row.alert_name as string, channel: row.channel as Channel }
  return { ...toDelivery(row), alert }
}
