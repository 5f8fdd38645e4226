import type { NewAlertDelivery } from '../../domain/alerts/delivery.ts'
import { maxPendingOfAlert } from '../../domain/alerts/delivery.ts'
import type { DeliveryEvent } from '../../domain/alerts/event.ts'
import type { Message } from '../../domain/alerts/message.ts'
import {
  type DecidedDelivery,
  type Notice,
  type NoticedChange,
  type NoticedDelivery,
  type NoticedPrompt,
  type NoticedRegression,
  type NoticeKind,
  type NoticeState,
  type NoticeStore,
  noticeKinds,
} from '../../domain/alerts/notice.ts'
import type { Instant } from '../../domain/time.ts'
import { type Database, type Row, type Statement, statement } from './database.ts'
import { prefixedEntryColumns, toPrefixedEntry } from './history-rows.ts'
import { openNoticeOf, reopened } from './notice-changes.ts'
import { columns as regressionColumns, toRegression } from './regressions.ts'
import { isForPeople, columns as shiftColumns, suspectEmail, toShift, withChange, withTriage } from './shifts.ts'
import { toTriaged, triageColumns } from './triage.ts'

const columns = 'id, organisation_id, kind, subject, state, round, changes, opened_at, ended_at'
// During an update, processes of a newer version may already open notices of kinds that only they know.
const kinds = noticeKinds.map((kind) => `'${kind}'`).join()
const maxRegressions = 200
const maxDeliveriesOfListener = 20
const maxFalls = 1_000
const checkSoonMs = 5_000
const deleteBatch = 1_000

export function sqlNotices(database: Database): NoticeStore {
  return {
    async due(now, limit) {
      const sql = `select ${columns} from (
          select ${columns}, due_at, row_number() over (partition by organisation_id order by due_at, id) as turn
          from notices where due_at <= ? and kind in (${kinds})) as due
        order by turn, due_at limit ?`
      return (await database.rows(sql, [now, limit])).map(toNotice)
    },

    async regressions({ organisationId, id }) {
      const rows = await database.rows(
        `select ${regressionColumns.replaceAll(/\w+/g, 'r.$&')}, p.public_id, p.name, p.path, p.deleted_at, h.message as change_message,
           h.repository_id as change_repository_id, ${prefixedEntryColumns('h', 'change')}, ${prefixedEntryColumns('f', 'fix')}
         from notice_regressions n
         join regressions r on r.organisation_id = n.organisation_id and r.id = n.regression_id
         join prompts p on p.organisation_id = r.organisation_id and p.id = r.prompt_id
         left join history_entries h on h.organisation_id = r.organisation_id and h.id = r.entry_id
         left join history_entries f on f.organisation_id = r.organisation_id and f.id = r.repaired_entry_id
         where n.organisation_id = ? and n.notice_id = ? order by r.difference, r.id limit ${maxRegressions}`,
        [organisationId, id],
      )
      return rows.map(toNoticedRegression)
    },

    async deliveries({ organisationId, id }, now) {
      // Of each listener, so that the repeats to one do not hide that another was told.
      const rows = await database.rows(
        `select id, alert_id, event, round, repeat, message, state, attempts, status, lease_owner, due_at, created_at
         from alert_deliveries where id in (select id from (
           select d.id, row_number() over (partition by d.alert_id order by d.id desc) as place from alert_deliveries d
           where d.organisation_id = ? and d.notice_id = ? and (d.alert_id is null or exists (
             select 1 from alerts a where a.organisation_id = d.organisation_id and a.id = d.alert_id))) as listed
           where place <= ${maxDeliveriesOfListener}) order by id`,
        [organisationId, id],
      )
      return rows.map((row) => toNoticedDelivery(row, now))
    },

    async decide(notice, { deliveries, dueAt }, at) {
      const { organisationId, id, changes } = notice
      const [rows = []] = await database.write([
        {
          ...statement(
            `update notices set due_at = ?, changes = changes + 1
             where organisation_id = ? and id = ? and changes = ? returning id`,
            [dueAt, organisationId, id, changes],
          ),
          andThen: (rows) => rows.flatMap(() => deliveries.flatMap((decided) => deliver(notice, decided, at))),
        },
      ])
      return rows.length > 0
    },

    async open(organisationId, kind, subject, at) {
      await database.write([openNoticeOf(organisationId, kind, subject, at)])
    },

    async followRepositories(at) {
      const hasAlert = (table: string) =>
        `exists (select 1 from alerts a where a.organisation_id = ${table}.organisation_id and a.disabled_at is null)`
      const isFailing = 'r.last_error is not null and r.disconnected_at is null'
      await database.write([
        statement(
          `insert into notices (organisation_id, kind, subject, state, opened_at, due_at)
           select r.organisation_id, 'repository', r.hook_id, 'open', cast(? as bigint), cast(? as bigint) from repositories r
           where ${isFailing} and ${hasAlert('r')}
           on conflict (organisation_id, kind, subject) do update set ${reopened} where notices.state <> 'open'`,
          [at, at],
        ),
        statement(
          `update notices set state = 'ended', ended_at = ?, due_at = ?, changes = changes + 1
           where kind = 'repository' and state = 'open' and not exists (select 1 from repositories r
             where r.organisation_id = notices.organisation_id and r.hook_id = notices.subject and ${isFailing})`,
          [at, at],
        ),
      ])
    },

    async listeningTo(event) {
      const rows = await database.rows(
        `select distinct organisation_id from alerts where disabled_at is null and events like ? order by organisation_id`,
        [`%"${event}"%`],
      )
      return rows.map((row) => row.organisation_id as number)
    },

    async unexplainedFalls(organisationId, since) {
      const rows = await database.rows(
        `select ${shiftColumns.replaceAll(/\w+/g, 's.$&')}, ${triageColumns.replaceAll(/\w+/g, 't.$&')}, ${suspectEmail} as suspect,
           p.public_id, p.name, p.path
         from shifts s join prompts p on p.organisation_id = s.organisation_id and p.id = s.prompt_id ${withTriage} ${withChange}
         where s.organisation_id = ? and s.found_at >= ? and s.rate_after < s.rate_before and p.deleted_at is null
           and ${isForPeople} and t.dismissed_at is null
         order by s.at desc, s.prompt_id limit ${maxFalls}`,
        [organisationId, since],
      )
      return rows.map((row) => ({
        ...toShift(row),
        ...toTriaged(row),
        owner: (row.owner ?? row.suspect) as string | null,
        prompt: toPrompt(row),
      }))
    },

    async subjects(organisationId, kind) {
      const sql = 'select subject from notices where organisation_id = ? and kind = ?'
      return (await database.rows(sql, [organisationId, kind])).map((row) => row.subject as string)
    },

    async deleteBefore(at) {
      // An open notice needs its last deliveries to know who was told.
      // Shifts, limits and digests have no end. They are told once, within weeks.
      const endOf = (table: string) =>
        `(case when ${table}.kind in ('shift', 'limit', 'digest') then ${table}.opened_at else ${table}.ended_at end)`
      const isNeeded = `exists (select 1 from notices n where n.organisation_id = d.organisation_id and n.id = d.notice_id
        and (n.due_at is not null or ${endOf('n')} is null or ${endOf('n')} >= ?))
        and not exists (select 1 from alert_deliveries l where l.organisation_id = d.organisation_id and l.notice_id = d.notice_id
          and coalesce(l.alert_id, 0) = coalesce(d.alert_id, 0) and l.event = d.event and l.id > d.id)`
      const isOver = `${endOf('notices')} < ? and due_at is null`
      const [deliveries = [], , notices = []] = await database.write([
        statement(
          `delete from alert_deliveries where id in (select d.id from alert_deliveries d
             where d.finished_at < ? and d.state <> 'pending' and not (${isNeeded}) limit ${deleteBatch}) returning id`,
          [at, at],
        ),
        statement(
          `delete from notice_regressions where notice_id in (select id from notices where ${isOver} and not exists (
             select 1 from alert_deliveries d where d.organisation_id = notices.organisation_id and d.notice_id = notices.id))`,
          [at],
        ),
        statement(
          `delete from notices where ${isOver} and not exists (select 1 from alert_deliveries d
             where d.organisation_id = notices.organisation_id and d.notice_id = notices.id) returning id`,
          [at],
        ),
      ])
      return deliveries.length + notices.length
    },
  }
}

/** Cancels and queues for one listener. */
function deliver(notice: Notice, { cancel, queue }: DecidedDelivery, at: Instant): Statement[] {
  const inserted = queue === null ? [] : insertDelivery(notice, queue, at)
  if (cancel === null) return inserted
  const { organisationId, id } = notice
  return [
    {
      ...statement(
        `update alert_deliveries set state = 'cancelled', error = ?, finished_at = ?, lease_owner = null
         where organisation_id = ? and id = ? and state = 'pending' and (lease_owner is null or due_at <= ?) returning id`,
        ['Outdated before it was sent.', at, organisationId, cancel, at],
      ),
      andThen: (rows) =>
        rows.length > 0
          ? inserted
          : // It is being sent right now: then people have to be told that it is over.
            [
              statement('update notices set due_at = ? where organisation_id = ? and id = ?', [
                at + checkSoonMs,
                organisationId,
                id,
              ]),
            ],
    },
  ]
}

function insertDelivery({ organisationId, id }: Notice, delivery: NewAlertDelivery, at: Instant): Statement[] {
  const { publicId, alertId, event, round, repeat, message, unsent } = delivery
  const insert = statement(
    `insert into alert_deliveries
       (organisation_id, public_id, notice_id, alert_id, event, round, repeat, message, state, due_at, error, created_at, finished_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`,
    [
      ...[organisationId, publicId, id, alertId, event, round, repeat, JSON.stringify(message)],
      ...[unsent === null ? 'pending' : 'cancelled', at, unsent, at, unsent === null ? null : at],
    ],
  )
  if (alertId === null || unsent !== null) return [insert]
  const giveUp = statement(
    `update alert_deliveries set state = 'failed', error = ?, finished_at = ?
     where organisation_id = ? and lease_owner is null and id in (
       select id from alert_deliveries where organisation_id = ? and alert_id = ? and state = 'pending'
       order by id desc limit 1000000 offset ${maxPendingOfAlert})`,
    [
      `More than ${maxPendingOfAlert} messages were waiting for this alert.`,
      at,
      organisationId,
      organisationId,
      alertId,
    ],
  )
  return [insert, giveUp]
}

function toNotice(row: Row): Notice {
  return {
    id: row.id as number,
    organisationId: row.organisation_id as number,
    kind: row.kind as NoticeKind,
    subject: row.subject as string,
    state: row.state as NoticeState,
    round: row.round as number,
    changes: row.changes as number,
    openedAt: row.opened_at as number,
    endedAt: row.ended_at as number | null,
  }
}

function toPrompt(row: Row): NoticedPrompt {
  return { publicId: row.public_id as string, name: row.name as string, path: row.path as string | null }
}

function toNoticedRegression(row: Row): NoticedRegression {
  const change = toPrefixedEntry(row, 'change')
  const details = {
    message: row.change_message as string | null,
    repositoryId: row.change_repository_id as number | null,
  }
  return {
    ...toRegression(row),
    prompt: toPrompt(row),
    change: change === null ? null : ({ ...change, ...details } satisfies NoticedChange),
    repairedEntry: toPrefixedEntry(row, 'fix'),
    isPromptDeleted: row.deleted_at !== null,
  }
}

function toNoticedDelivery(row: Row, now: Instant): NoticedDelivery {
  const message = JSON.parse(row.message as string) as Message
  const prompts = 'prompts' in message && 'dedupKey' in message ? message.prompts : null
  return {
    id: row.id as number,
    alertId: row.alert_id as number | null,
    event: row.event as DeliveryEvent,
    round: row.round as number,
    repeat: row.repeat as number,
    state: row.state as NoticedDelivery['state'],
    attempts: row.attempts as number,
    status: row.status as number | null,
    isClaimed: row.state === 'pending' && row.lease_owner !== null,
    isInFlight: row.lease_owner !== null && (row.due_at as number) > now,
    createdAt: row.created_at as number,
    // A repository is a single thing.
    told: prompts?.map(({ regressionId, state }) => ({ id: regressionId, state })) ?? [{ id: 0, state: 'open' }],
    message,
  }
}
