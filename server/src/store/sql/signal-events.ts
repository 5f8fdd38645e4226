import type { Alert } from '../../domain/alerts/alert.ts'
import {
  type ClaimedWebhook,
  generateEventId,
  type SignalChangeKind,
  type SignalEvent,
  type SignalEventStore,
} from '../../domain/alerts/signal-event.ts'
import { day, type Instant } from '../../domain/time.ts'
import { columns, toAlert } from './alert-rows.ts'
import {
  type ColumnTypes,
  countRows,
  type Database,
  isDueSql,
  type Row,
  type Statement,
  statement,
  writeRows,
} from './database.ts'
import { columns as signalColumns, toStoredSignal } from './signal-rows.ts'

export const eventColumns = {
  organisation_id: 'bigint',
  signal_id: 'bigint',
  prompt_id: 'bigint',
  occurred_at: 'bigint',
  kind: 'text',
  event_id: 'text',
  changed_at: 'bigint',
} as const satisfies ColumnTypes

/** A row of signal_events. */
export type EventRow = Record<keyof typeof eventColumns, string | number>

export const eventNames = Object.keys(eventColumns) as (keyof EventRow)[]

export function newEvent(
  { organisationId, promptId }: { organisationId: number; promptId: number },
  signalId: number,
  occurredAt: Instant,
  kind: SignalChangeKind,
  at: Instant,
): EventRow {
  return {
    organisation_id: organisationId,
    signal_id: signalId,
    prompt_id: promptId,
    occurred_at: occurredAt,
    kind,
    event_id: generateEventId(),
    changed_at: at,
  }
}

/** A signal that waits and changes again is sent once, as it is then. */
export const onLaterChange = `on conflict (organisation_id, signal_id) do update set ${eventNames
  .slice(2)
  .map((name) => `${name} = excluded.${name}`)
  .join(', ')}`

const isActive = 'signals = 1 and disabled_at is null'

/** The organisations whose signals are sent. */
export const sendingOrganisations = `select organisation_id from alerts where ${isActive}`

// A due time beyond the longest delay comes from a clock that was wrong.
const maxFutureMs = 2 * day

export function sqlSignalEvents(database: Database): SignalEventStore {
  async function promptsOf(organisationId: number, ids: number[]): Promise<Map<number, SignalEvent['prompt']>> {
    const sql = `select id, public_id, name, path from prompts where ${database.haveIds()}`
    const rows = await database.rows(sql, [organisationId, JSON.stringify(ids)])
    const toPrompt = ({ public_id, name, path }: Row) => ({ publicId: public_id, name, path }) as SignalEvent['prompt']
    return new Map(rows.map((row) => [row.id as number, toPrompt(row)]))
  }

  return {
    async webhooks() {
      return (await database.rows(`select ${columns} from alerts where ${isActive}`)).map(toAlert)
    },

    async due(now, afterOrganisation, limit) {
      const rows = await database.rows(
        `select ${columns} from alerts where ${isActive} and ${isDueSql('signals_due_at')}
         order by case when organisation_id > ? then 0 else 1 end, organisation_id limit ?`,
        [now, now + maxFutureMs, afterOrganisation, limit],
      )
      return rows.map(toAlert)
    },

    countFailing: () => countRows(database, `alerts where ${isActive} and signals_attempts > 0`),

    countWaiting: (organisationId, most) =>
      countRows(database, '(select 1 from signal_events where organisation_id = ? limit ?) as waiting', [
        organisationId,
        most,
      ]),

    async claim({ organisationId, id }, owner, now, until) {
      const rows = await writeRows(
        database,
        `update alerts set signals_lease = ?, signals_due_at = ?
         where organisation_id = ? and id = ? and ${isActive} and ${isDueSql('signals_due_at')}
         returning ${columns}, signals_attempts`,
        [owner, until, organisationId, id, now, now + maxFutureMs],
      )
      const [row] = rows
      return row === undefined ? null : toClaimed(row, owner)
    },

    async read(organisationId, afterSignal, limit) {
      const signal = signalColumns.replaceAll(/\w+/g, 's.$&')
      // One statement, so that an event and its signal are of the same moment.
      const rows = await database.rows(
        `select e.signal_id, e.prompt_id, e.kind, e.event_id, e.changed_at, ${signal} from signal_events e
         left join signals s on s.organisation_id = e.organisation_id and s.prompt_id = e.prompt_id
           and s.created_at = e.occurred_at and s.id = e.signal_id
         where e.organisation_id = ? and e.signal_id > ? order by e.signal_id limit ?`,
        [organisationId, afterSignal, limit],
      )
      const prompts = await promptsOf(organisationId, [...new Set(rows.map((row) => row.prompt_id as number))])
      return rows.map((row) => toEvent(row, prompts.get(row.prompt_id as number) ?? noPrompt))
    },

    async finish({ organisationId, id, leaseOwner }, removed, { attempts, dueAt }) {
      const signals = JSON.stringify(removed.map(({ signalId }) => signalId))
      const events = JSON.stringify(removed.map((event) => event.id))
      await database.write([
        ...(removed.length === 0
          ? []
          : [
              statement(
                `delete from signal_events where organisation_id = ? and ${database.inJsonArray('signal_id', 'bigint')}
                   and event_id in ${database.jsonElements('text')}`,
                [organisationId, signals, events],
              ),
            ]),
        statement(
          `update alerts set signals_attempts = ?, signals_due_at = ?, signals_lease = null
           where organisation_id = ? and id = ? and signals_lease = ?`,
          [attempts, dueAt, organisationId, id, leaseOwner],
        ),
      ])
    },
  }
}

/** Part of a transaction that deletes signals: has the webhook of the organisation, if it has one, told about them. */
export function announceErased(database: Database, organisationId: number, deleted: Row[], at: Instant): Statement[] {
  if (deleted.length === 0) return []
  const rows = deleted
    // In order, which prevents deadlocks.
    .toSorted((a, b) => (a.id as number) - (b.id as number))
    .map(({ id, prompt_id: promptId, created_at: occurredAt }) =>
      newEvent({ organisationId, promptId: promptId as number }, id as number, occurredAt as number, 'erased', at),
    )
  const insert = { table: 'signal_events', rows, onConflict: onLaterChange }
  return [
    {
      ...statement(`${sendingOrganisations} and organisation_id = ?`, [organisationId]),
      andThen: (sending) => sending.flatMap(() => database.insertRows(insert)),
    },
  ]
}

/** Part of a transaction that starts or ends sending: what waits is of an earlier time, or no longer wanted. */
export function forgetWaiting({ organisationId }: Pick<Alert, 'organisationId'>): Statement {
  return statement('delete from signal_events where organisation_id = ?', [organisationId])
}

const noPrompt = { publicId: '', name: '', path: null }

function toEvent(row: Row, prompt: SignalEvent['prompt']): SignalEvent {
  return {
    id: row.event_id as string,
    kind: row.kind as SignalChangeKind,
    at: row.changed_at as number,
    signalId: row.signal_id as number,
    prompt,
    signal: row.id === null ? null : toStoredSignal(row),
  }
}

function toClaimed(row: Row, leaseOwner: string): ClaimedWebhook {
  return { ...toAlert(row), attempts: row.signals_attempts as number, leaseOwner }
}
