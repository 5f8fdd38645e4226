import type { Alert, Channel } from '../../domain/alerts/alert.ts'
import type { AlertEvent } from '../../domain/alerts/event.ts'
import { type Row, type Statement, statement } from './database.ts'

export const ruleColumns = [
  'name',
  'prompts',
  'events',
  'hold_ms',
  'min_signals',
  'recovery_hold_ms',
  'repeat_ms',
  'signals',
]
export const columns = `id, organisation_id, public_id, channel, sealed_target, hint, sealed_secret, sealed_old_secret, old_secret_until,
  ${ruleColumns.join(', ')}, created_at, disabled_at, disabled_reason`

export function selectAlert(organisationId: number, id: number | null): Statement {
  return statement(`select ${columns} from alerts where organisation_id = ? and id = ?`, [organisationId, id])
}

export function toAlert(row: Row): Alert {
  return {
    id: row.id as number,
    organisationId: row.organisation_id as number,
    publicId: row.public_id as string,
    channel: row.channel as Channel,
    sealedTarget: row.sealed_target as string,
    hint: row.hint as string,
    sealedSecret: row.sealed_secret as string | null,
    sealedOldSecret: row.sealed_old_secret as string | null,
    oldSecretUntil: row.old_secret_until as number | null,
    name: row.name as string,
    prompts: row.prompts as string,
    events: JSON.parse(row.events as string) as AlertEvent[],
    holdMs: row.hold_ms as number,
    minSignals: row.min_signals as number,
    recoveryHoldMs: row.recovery_hold_ms as number,
    repeatMs: row.repeat_ms as number | null,
    signals: row.signals === 1,
    createdAt: row.created_at as number,
    disabledAt: row.disabled_at as number | null,
    disabledReason: row.disabled_reason as string | null,
  }
}
