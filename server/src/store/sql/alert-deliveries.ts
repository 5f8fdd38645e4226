import type { Alert, Channel } from '../../domain/alerts/alert.ts'
import type {
  AlertDelivery,
  AlertDeliveryState,
  AlertDeliveryStore,
  ClaimedDelivery,
  ListedAlertDelivery,
} from '../../domain/alerts/delivery.ts'
import { type DeliveryEvent, deliveryEvents } from '../../domain/alerts/event.ts'
import type { Message } from '../../domain/alerts/message.ts'
import { pageOffset } from '../../domain/page.ts'
import { day, type Instant } from '../../domain/time.ts'
import { selectAlert, toAlert } from './alert-rows.ts'
import { auditEntry } from './audit-chain.ts'
import {
  countRows,
  type Database,
  firstOrNull,
  isDueSql,
  type Row,
  type Statement,
  statement,
  type Value,
  writeRows,
} from './database.ts'

const ownColumns = `id, organisation_id, public_id, alert_id, event, message, state, attempts, due_at, status, response, error,
  created_at, finished_at`
const columns = ownColumns.replaceAll(/\w+/g, 'd.$&')
// During an update, processes of a newer version may already queue events that only they can compose.
const events = deliveryEvents.map((event) => `'${event}'`).join()
const maxOfRegression = 100
// A due time beyond the longest delay comes from a clock that was wrong.
const maxFutureMs = 2 * day

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
      const [totalCount, deliveries] = await Promise.all([
        countRows(database, `alert_deliveries d where d.organisation_id = ? and ${condition}`, parameters),
        listed(condition, [...parameters, request.limit, pageOffset(request)], 'order by d.id desc limit ? offset ?'),
      ])
      return { deliveries, totalCount }
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

    async due(now, afterOrganisation, limit) {
      const times = [now, now + maxFutureMs]
      const next = (after: string) =>
        `(select min(organisation_id) from alert_deliveries where state = 'pending' and organisation_id > ${after})`
      const dueOf = (offset: number) => `(select d.id from alert_deliveries d
        where d.organisation_id = owners.id and d.state = 'pending' and d.event in (${events}) and ${isDueSql('d.due_at')}
        order by d.attempts, d.due_at, d.id limit 1 offset ${offset})`
      // Skips from organisation to organisation, so that the backlog of one does not slow down the others. Two subqueries, because
      // PostgreSQL would compare all deliveries of an organisation with a list of two.
      const rows = await database.rows(
        `with recursive owners (id) as (
           select ${next('cast(? as bigint)')} union all select ${next('owners.id')} from owners where owners.id is not null
         )
         select * from (
           select id as organisation_id, ${dueOf(0)} as first, ${dueOf(1)} as second from owners where id is not null
         ) as listed where first is not null limit ?`,
        [afterOrganisation, ...times, ...times, limit],
      )
      return rows
        .toSorted((a, b) => (a.organisation_id as number) - (b.organisation_id as number))
        .flatMap(({ organisation_id: organisationId, first, second }) =>
          [first, second]
            .filter((id) => id !== null)
            .map((id) => ({ id: id as number, organisationId: organisationId as number })),
        )
    },

    async claim({ organisationId, id }, owner, now, until) {
      let claimed: ClaimedDelivery | null = null
      await database.write([
        {
          ...statement(
            `update alert_deliveries set lease_owner = ?, due_at = ?
             where organisation_id = ? and id = ? and state = 'pending' and ${isDueSql('due_at')} returning ${ownColumns}`,
            [owner, until, organisationId, id, now, now + maxFutureMs],
          ),
          andThen: (rows) =>
            rows.map((row) => ({
              ...selectAlert(organisationId, row.alert_id as number | null),
              andThen: (alerts) => {
                claimed = { ...toDelivery(row), leaseOwner: owner, alert: firstOrNull(alerts, toAlert) }
                return []
              },
            })),
        },
      ])
      return claimed
    },

    async finish({ organisationId, id, leaseOwner }, { state, status, response, error, dueAt, finishedAt }) {
      const rows = await writeRows(
        database,
        `update alert_deliveries set state = ?, status = ?, response = ?, error = ?, due_at = ?, finished_at = ?,
           attempts = attempts + 1, lease_owner = null
         where organisation_id = ? and id = ? and lease_owner = ? and state = 'pending' returning id`,
        [state, status, response, error, dueAt, finishedAt, organisationId, id, leaseOwner],
      )
      return rows.length > 0
    },

    async release({ organisationId, id, leaseOwner }, at) {
      await writeRows(
        database,
        `update alert_deliveries set due_at = ?, lease_owner = null
         where organisation_id = ? and id = ? and lease_owner = ? and state = 'pending'`,
        [at, organisationId, id, leaseOwner],
      )
    },

    countPending: () => countRows(database, `alert_deliveries where state = 'pending'`),

    async negativeComments(organisationId, promptPublicId, since, limit) {
      const rows = await database.rows(
        `select comment, created_at from signals where organisation_id = ? and prompt_id = (
           select id from prompts where organisation_id = ? and public_id = ? and deleted_at is null)
         and comment is not null and value = 'negative' and created_at >= ? order by created_at desc, id desc limit ?`,
        [organisationId, organisationId, promptPublicId, since, limit],
      )
      return rows.map((row) => ({ text: row.comment as string, at: row.created_at as number }))
    },

    async retry({ organisationId, id, publicId, event, alert }, at, by) {
      const subject = { id: publicId, name: alert?.name ?? event }
      const [rows = []] = await database.write([
        {
          ...statement(
            `update alert_deliveries set state = 'pending', attempts = 0, due_at = ?, lease_owner = null, finished_at = null
             where organisation_id = ? and id = ? and state = 'failed' and (alert_id is null or not exists (
               select 1 from alert_deliveries l where l.organisation_id = alert_deliveries.organisation_id
               and l.notice_id = alert_deliveries.notice_id and l.alert_id = alert_deliveries.alert_id
               and l.id > alert_deliveries.id))
             returning ${ownColumns}`,
            [at, organisationId, id],
          ),
          andThen: (rows) =>
            rows.map(() =>
              auditEntry({ organisationId, by, at, action: 'alert.delivery_retried', subject, details: { event } }),
            ),
        },
      ])
      return firstOrNull(rows, toDelivery)
    },
  }
}

/** Cancels the waiting deliveries of an alert. One that is being sent right now may still arrive. */
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
    event: row.event as DeliveryEvent,
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
