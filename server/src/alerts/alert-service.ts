import { type Alert, type AlertRules, generateAlertId, signedChannels } from '../domain/alerts/alert.ts'
import type { AlertService, AlertState, AlertUpdate, TestedAlert } from '../domain/alerts/alert-service.ts'
import type { SendMessage, Target } from '../domain/alerts/channel.ts'
import type { TestMessage } from '../domain/alerts/message.ts'
import { validRules } from '../domain/alerts/rules.ts'
import { DomainError } from '../domain/errors.ts'
import { randomBase62 } from '../domain/random.ts'
import type { AlertSecretKind, SecretPlace, Vault } from '../domain/repositories/vault.ts'
import type { Store } from '../domain/store.ts'
import type { Clock, Instant } from '../domain/time.ts'
import { type TargetRules, type ValidTarget, validSlackToken, validTarget } from './target.ts'
import { createTestLimit } from './test-limit.ts'
import { generateWebhookSecret } from './webhook-secret.ts'

interface AlertContext {
  store: Store
  vault: Vault
  clock: Clock
  send: SendMessage
  targets: TargetRules
  /** Called when a delivery is due at once. */
  wake: () => void
}

export function createAlertService(context: AlertContext): AlertService {
  const { store, vault, clock, send } = context
  const tests = createTestLimit(clock)

  return {
    async add({ organisationId, channel, target, slackToken = null, ...requested }, by) {
      const rules = validRules(channel, requested)
      const checked = validTarget(channel, target, context.targets)
      const publicId = generateAlertId()
      const token = validSlackToken(channel, slackToken)
      const secret = signedChannels.includes(channel) ? generateWebhookSecret() : null
      const stored = secret ?? token
      const alert = await store.alerts.add(
        {
          ...rules,
          organisationId,
          publicId,
          channel,
          ...seal({ publicId }, checked),
          sealedSecret: stored === null ? null : vault.encrypt(stored, alertPlace({ publicId }, 'alert_secret')),
          createdAt: clock(),
        },
        by,
      )
      return { alert, secret }
    },

    async update(alert, { target, slackToken, state, ...changed }, by) {
      const rules = validRules(alert.channel, withChanges(alert, changed))
      const { sealedTarget, hint } =
        target === undefined ? alert : seal(alert, validTarget(alert.channel, target, context.targets))
      const sealedSecret = changedToken(alert, slackToken)
      const now = clock()
      const updated = await store.alerts.update(
        alert,
        { ...rules, sealedTarget, hint, sealedSecret, ...disabling(alert, state, now) },
        now,
        by,
      )
      return updated ?? removed()
    },

    remove: (alert, by) => store.alerts.remove(alert, clock(), by),

    async rotateSecret(alert, overlapMs, by) {
      if (!signedChannels.includes(alert.channel))
        throw new DomainError('conflict', 'Only webhooks have a signing secret.')
      const secret = generateWebhookSecret()
      const now = clock()
      const oldSecretUntil = now + overlapMs
      const sealed = vault.encrypt(secret, alertPlace(alert, 'alert_secret'))
      const rotated = await store.alerts.rotateSecret(alert, { sealed, oldUntil: oldSecretUntil }, now, by)
      return rotated === null ? removed() : { secret, oldSecretUntil }
    },

    test: (alert, by) =>
      tests.run(alert.organisationId, async (): Promise<TestedAlert> => {
        const { organisationId, publicId, name } = alert
        const organisation = await store.organisations.find(organisationId)
        const at = clock()
        const message: TestMessage = {
          event: 'alert.test',
          at,
          organisation: { id: organisationId, name: organisation?.name ?? '' },
          alert: name,
        }
        const subject = { id: publicId, name }
        await store.audit.record({ organisationId, by, at, action: 'alert.tested', subject })
        const id = `msg_${randomBase62(24)}`
        const startedAt = performance.now()
        const attempt = await send(openTarget(vault, alert, at), id, message)
        return { ...attempt, id, milliseconds: Math.round(performance.now() - startedAt) }
      }),

    async retry(delivery, by) {
      if (delivery.state !== 'failed') throw notFailed()
      if (delivery.alert === null && delivery.alertId !== null) {
        throw new DomainError('conflict', 'The alert of this delivery was removed, so it cannot be sent again.')
      }
      const pending = await store.alertDeliveries.retry(delivery, clock(), by)
      if (pending === null) throw outdated()
      context.wake()
      return pending
    },
  }

  /** The sealed secret after an update. That of other channels signs requests, and stays. */
  function changedToken(alert: Alert, requested: string | null | undefined): string | null {
    const token = validSlackToken(alert.channel, requested ?? null)
    if (requested === undefined || alert.channel !== 'slack') return alert.sealedSecret
    return token === null ? null : vault.encrypt(token, alertPlace(alert, 'alert_secret'))
  }

  function seal(alert: Pick<Alert, 'publicId'>, { target, hint }: ValidTarget) {
    return { sealedTarget: vault.encrypt(target, alertPlace(alert, 'alert_target')), hint }
  }
}

/** The alert with its target decrypted, and the secrets that are valid at `now`. */
export function openTarget(vault: Vault, alert: Alert, now: Instant): Target {
  const { publicId, channel, name, sealedTarget, sealedSecret, sealedOldSecret, oldSecretUntil } = alert
  const isOldValid = oldSecretUntil !== null && oldSecretUntil > now
  const sealed = [sealedSecret, isOldValid ? sealedOldSecret : null].filter((secret) => secret !== null)
  return {
    alertId: publicId,
    channel,
    name,
    target: vault.decrypt(sealedTarget, alertPlace(alert, 'alert_target')),
    secrets: sealed.map((secret) => vault.decrypt(secret, alertPlace(alert, 'alert_secret'))),
  }
}

function alertPlace({ publicId }: Pick<Alert, 'publicId'>, kind: AlertSecretKind): SecretPlace {
  return { alertId: publicId, kind }
}

function withChanges(alert: Alert, update: Omit<AlertUpdate, 'target' | 'slackToken' | 'state'>): AlertRules {
  const { name, prompts, events, holdMs, minSignals, recoveryHoldMs, repeatMs, signals } = alert
  const current: AlertRules = { name, prompts, events, holdMs, minSignals, recoveryHoldMs, repeatMs, signals }
  const given = Object.entries(update).filter(([, value]) => value !== undefined)
  return { ...current, ...Object.fromEntries(given) }
}

function disabling(
  { disabledAt, disabledReason }: Alert,
  state: AlertState | undefined,
  now: Instant,
): Pick<Alert, 'disabledAt' | 'disabledReason'> {
  if (state === 'active') return { disabledAt: null, disabledReason: null }
  const isNew = state === 'disabled' && disabledAt === null
  return isNew ? { disabledAt: now, disabledReason: 'Disabled by an administrator' } : { disabledAt, disabledReason }
}

function removed(): never {
  throw new DomainError('not_found', 'The alert was removed meanwhile.')
}

function outdated(): DomainError {
  return new DomainError('conflict', 'It was retried meanwhile, or a later message about the same was queued.')
}

function notFailed(): DomainError {
  return new DomainError('conflict', 'Only a delivery that failed can be sent again.')
}
