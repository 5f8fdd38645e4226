import { type Alert, type AlertRules, generateAlertId, signedChannels } from '../server/src/domain/alerts/alert.ts'
import { defaultEvents } from '../server/src/domain/alerts/event.ts'
import { minute } from '../server/src/domain/time.ts'
import { queryRows } from './rows.ts'
import type { TestService } from './service.ts'

export const defaultRules: AlertRules = {
  name: 'On call',
  prompts: '**',
  events: [...defaultEvents],
  holdMs: 15 * minute,
  minSignals: 50,
  recoveryHoldMs: 15 * minute,
  repeatMs: null,
  signals: false,
}

/** Adds an alert through the store, with its target and secret encrypted. */
export async function addAlert(
  service: Pick<TestService, 'store' | 'syncContext' | 'now'>,
  organisationId: number,
  { target = 'https://hooks.example/a', channel = 'webhook', ...rules }: Partial<AlertRules & AddedTarget> = {},
): Promise<Alert> {
  const publicId = generateAlertId()
  const { vault } = service.syncContext
  return service.store.alerts.add(
    {
      ...defaultRules,
      ...rules,
      organisationId,
      publicId,
      channel,
      sealedTarget: vault.encrypt(target, { alertId: publicId, kind: 'alert_target' }),
      hint: 'hooks.example',
      sealedSecret: signedChannels.includes(channel)
        ? vault.encrypt('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', { alertId: publicId, kind: 'alert_secret' })
        : null,
      createdAt: service.now,
    },
    null,
  )
}

/** Adds a delivery past the notifier, which would take its time, and returns its public ID. */
export async function addDelivery(
  { url, now }: Pick<TestService, 'url' | 'now'>,
  alert: Pick<Alert, 'organisationId'> & { id: number | null },
  values: Record<string, string | number> = {},
): Promise<string> {
  const row = {
    organisation_id: alert.organisationId,
    public_id: generateAlertId().replace('alr_', 'msg_'),
    notice_id: Math.floor(Math.random() * 1e9),
    alert_id: alert.id,
    event: 'limit.near',
    round: 1,
    message: '{"event":"limit.near"}',
    state: 'pending',
    due_at: now,
    created_at: now,
    ...values,
  }
  const quoted = Object.values(row).map((value) =>
    typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value),
  )
  await queryRows(url, `insert into alert_deliveries (${Object.keys(row)}) values (${quoted.join(', ')})`)
  return row.public_id
}

interface AddedTarget {
  target: string
  channel: Alert['channel']
}
