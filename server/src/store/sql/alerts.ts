import type { AuditDetails } from '../../domain/access/audit.ts'
import {
  type Alert,
  type AlertChanges,
  type AlertRules,
  type AlertStore,
  maxAlerts,
  type NewAlert,
  secondSignalWebhook,
  tooManyAlerts,
} from '../../domain/alerts/alert.ts'
import { isoTime } from '../../domain/time.ts'
import { cancelPending } from './alert-deliveries.ts'
import { columns, ruleColumns, toAlert } from './alert-rows.ts'
import { auditOf } from './audit-chain.ts'
import { type Database, firstOrNull, type Row, requireRow, type Statement, statement, type Value } from './database.ts'
import { decideOpenNotices } from './notice-changes.ts'
import { lockOrganisation, requireRoom } from './organisations.ts'
import { forgetWaiting } from './signal-events.ts'

export function sqlAlerts(database: Database): AlertStore {
  return {
    async list(organisationId) {
      const sql = `select ${columns} from alerts where organisation_id = ? order by id`
      return (await database.rows(sql, [organisationId])).map(toAlert)
    },

    async find(organisationId, publicId) {
      const sql = `select ${columns} from alerts where organisation_id = ? and public_id = ?`
      return firstOrNull(await database.rows(sql, [organisationId, publicId]), toAlert)
    },

    async findInAnyOrganisation(publicId) {
      const sql = `select ${columns} from alerts where public_id = ? order by organisation_id limit 1`
      return firstOrNull(await database.rows(sql, [publicId]), toAlert)
    },

    async add(alert, by) {
      const { organisationId, createdAt, channel, hint } = alert
      let stored: Row[] = []
      // The writers of signals cache who gets them.
      await database[alert.signals ? 'writeAndInvalidate' : 'write']([
        // Concurrent requests must not exceed the limit together.
        lockOrganisation(organisationId),
        requireRoom(maxAlerts, 'alerts where organisation_id = ?', [organisationId], tooManyAlerts),
        ...(alert.signals ? startSending(alert) : []),
        {
          ...insertAlert(alert),
          andThen(rows) {
            stored = rows
            return [auditOf(alert, 'alert.added', createdAt, by, { channel, target: hint })]
          },
        },
      ])
      return toAlert(requireRow(stored))
    },

    async update(alert, changes, at, by) {
      const { organisationId, id } = alert
      let stored: Row[] = []
      const valuesOf = (of: AlertChanges) => [
        ...ruleValues(of),
        ...[of.sealedTarget, of.hint, of.sealedSecret, of.disabledAt, of.disabledReason],
      ]
      const before = valuesOf(alert)
      const names = [...ruleColumns, 'sealed_target', 'hint', 'sealed_secret', 'disabled_at', 'disabled_reason']
      const set = names.map((column, i) => ({ column, value: valuesOf(changes)[i] as Value, old: before[i] }))
      // What stays the same may have been changed since it was read: by another request, a 410, or a rotation of the secret key.
      const changed = set.filter(({ value, old }) => value !== old)
      await database[alert.signals || changes.signals ? 'writeAndInvalidate' : 'write']([
        ...(changes.signals && !alert.signals ? [lockOrganisation(organisationId), ...startSending(alert)] : []),
        {
          ...statement(
            `update alerts set ${[sendAgain, ...changed.map(({ column }) => `${column} = ?`)].join(', ')}
             where organisation_id = ? and id = ? returning ${columns}`,
            [...changed.map(({ value }) => value), organisationId, id],
          ),
          andThen(rows) {
            stored = rows
            if (rows.length === 0) return []
            const after = toAlert(requireRow(rows))
            return [
              ...(isSending(alert) === isSending(after) ? [] : [forgetWaiting(alert)]),
              ...(changes.disabledAt === null
                ? [decideOpenNotices(organisationId, at)]
                : [cancelPending(alert, 'The alert is disabled.', at)]),
              auditOf(alert, 'alert.updated', at, by, changedFields(alert, after)),
            ]
          },
        },
      ])
      return firstOrNull(stored, toAlert)
    },

    async rotateSecret(alert, { sealed, oldUntil }, at, by) {
      const { organisationId, id } = alert
      const [rows = []] = await database.write([
        {
          ...statement(
            `update alerts set sealed_old_secret = sealed_secret, old_secret_until = ?, sealed_secret = ?
             where organisation_id = ? and id = ? returning ${columns}`,
            [oldUntil, sealed, organisationId, id],
          ),
          andThen: (rows) =>
            rows.map(() => auditOf(alert, 'alert.secret_rotated', at, by, { old_secret_until: isoTime(oldUntil) })),
        },
      ])
      return firstOrNull(rows, toAlert)
    },

    async remove(alert, at, by) {
      const { organisationId, id } = alert
      await database[alert.signals ? 'writeAndInvalidate' : 'write']([
        {
          ...statement('delete from alerts where organisation_id = ? and id = ? returning id', [organisationId, id]),
          andThen: (rows) =>
            rows.flatMap(() => [
              ...(alert.signals ? [forgetWaiting(alert)] : []),
              cancelPending(alert, 'The alert was removed.', at),
              auditOf(alert, 'alert.removed', at, by),
            ]),
        },
      ])
    },

    async disable(alert, reason, at) {
      const { organisationId, id } = alert
      await database[alert.signals ? 'writeAndInvalidate' : 'write']([
        {
          ...statement(
            `update alerts set disabled_at = ?, disabled_reason = ?
             where organisation_id = ? and id = ? and disabled_at is null returning id`,
            [at, reason, organisationId, id],
          ),
          andThen: (rows) =>
            rows.flatMap(() => [
              ...(alert.signals ? [forgetWaiting(alert)] : []),
              cancelPending(alert, 'The alert is disabled.', at),
            ]),
        },
      ])
    },
  }
}

function insertAlert(alert: NewAlert) {
  const { organisationId, publicId, channel, sealedTarget, hint, sealedSecret, createdAt } = alert
  return statement(
    `insert into alerts (organisation_id, public_id, channel, sealed_target, hint, sealed_secret, created_at, ${ruleColumns.join(', ')})
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) returning ${columns}`,
    [organisationId, publicId, channel, sealedTarget, hint, sealedSecret, createdAt, ...ruleValues(alert)],
  )
}

function ruleValues(rules: AlertRules): Value[] {
  const { name, prompts, events, holdMs, minSignals, recoveryHoldMs, repeatMs, signals } = rules
  return [name, prompts, JSON.stringify(events), holdMs, minSignals, recoveryHoldMs, repeatMs, signals ? 1 : 0]
}

function isSending({ signals, disabledAt }: Pick<Alert, 'signals' | 'disabledAt'>): boolean {
  return signals && disabledAt === null
}

/** Part of a transaction, after `lockOrganisation`. */
function startSending({ organisationId }: Pick<Alert, 'organisationId'>): Statement[] {
  const others = 'alerts where organisation_id = ? and signals = 1'
  return [requireRoom(1, others, [organisationId], secondSignalWebhook), forgetWaiting({ organisationId })]
}

/** An update may be the repair, so the next attempt is not put off, unless one is in progress. */
const sendAgain =
  'signals_attempts = 0, signals_due_at = case when signals_lease is null then 0 else signals_due_at end'

/** The fields that differ, by their names in the API. Never the target itself, which can be a secret. */
function changedFields(before: Alert, after: Alert): AuditDetails {
  const shown = (alert: Alert): AuditDetails => ({
    name: alert.name,
    prompts: alert.prompts,
    events: alert.events.join(', '),
    hold_ms: alert.holdMs,
    min_signals: alert.minSignals,
    recovery_hold_ms: alert.recoveryHoldMs,
    repeat_ms: alert.repeatMs ?? 'never',
    signals: alert.signals ? 'sent' : 'not sent',
    target: alert.hint,
    state: alert.disabledAt === null ? 'active' : 'disabled',
  })
  const old = shown(before)
  const changed = Object.entries(shown(after)).filter(([field, value]) => value !== old[field])
  // Two targets can look the same where only a part may be shown.
  if (before.sealedTarget !== after.sealedTarget) changed.push(['target', after.hint])
  if (after.channel === 'slack' && before.sealedSecret !== after.sealedSecret) {
    changed.push(['slack_token', after.sealedSecret === null ? 'removed' : 'set'])
  }
  return Object.fromEntries(changed)
}
