import { type Alert, type AlertRules, generateAlertId } from '../server/src/domain/alerts/alert.ts'
import { alertEvents } from '../server/src/domain/alerts/event.ts'
import { minute } from '../server/src/domain/time.ts'
import type { TestService } from './service.ts'

export const defaultRules: AlertRules = {
  name: 'On call',
  prompts: '**',
  events: [...alertEvents],
  holdMs: 15 * minute,
  minSignals: 50,
  recoveryHoldMs: 15 * minute,
  repeatMs: null,
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
      sealedSecret:
        channel === 'webhook'
          ? vault.encrypt('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', { alertId: publicId, kind: 'alert_secret' })
          : null,
      createdAt: service.now,
    },
    null,
  )
}

interface AddedTarget {
  target: string
  channel: Alert['channel']
}
