import type { Actor } from '../access/audit.ts'
import { DomainError } from '../errors.ts'
import { randomBase62 } from '../random.ts'
import type { Instant } from '../time.ts'
import type { AlertEvent } from './event.ts'

export const channels = ['webhook', 'cloudevents', 'slack', 'teams', 'discord', 'email', 'pagerduty', 'linear'] as const

/** The channels whose requests we sign. */
export const signedChannels: readonly Channel[] = ['webhook', 'cloudevents']

/** The channels that open an incident or issue, and have to hear that it is over, whatever they are told about. */
export const trackingChannels: readonly string[] = ['pagerduty', 'linear'] satisfies Channel[]

export type Channel = (typeof channels)[number]

/** Where an organisation receives messages, about which events, and how certain a regression must be. */
export interface Alert extends AlertRules {
  id: number
  organisationId: number
  /** Starts with `alr_`. */
  publicId: string
  channel: Channel
  /** A URL, email addresses separated by commas, the routing key of PagerDuty, or the team and API key of Linear. */
  sealedTarget: string
  /** What of the target may be shown: the host of a URL, the addresses, the end of a key. */
  hint: string
  /** The signing secret of a webhook, and the previous one, valid until `oldSecretUntil`. Of Slack, the bot token. */
  sealedSecret: string | null
  sealedOldSecret: string | null
  oldSecretUntil: Instant | null
  createdAt: Instant
  /** A receiver that responds with 410, or takes no signals for days, disables its alert. */
  disabledAt: Instant | null
  disabledReason: string | null
}

/** What can be changed about an alert. */
export interface AlertRules {
  name: string
  /** A glob of prompt names. */
  prompts: string
  events: AlertEvent[]
  /** How long a regression has to last before anyone is told, and how many signals it needs. */
  holdMs: number
  minSignals: number
  /** How long a recovery has to last before anyone is told. */
  recoveryHoldMs: number
  /** Tells again after this long while a regression stays open. Null to tell once. */
  repeatMs: number | null
  /** Whether it also gets every signal. Only of the channel `cloudevents`, and of one alert of an organisation. */
  signals: boolean
}

export type NewAlert = Omit<Alert, 'id' | 'disabledAt' | 'disabledReason' | 'sealedOldSecret' | 'oldSecretUntil'>

/** An alert after an update. Fields that are equal to the current ones do not change. With `disabledAt` null, the alert is enabled again. */
export type AlertChanges = AlertRules &
  Pick<Alert, 'sealedTarget' | 'hint' | 'sealedSecret' | 'disabledAt' | 'disabledReason'>

export interface AlertStore {
  list(organisationId: number): Promise<Alert[]>
  find(organisationId: number, publicId: string): Promise<Alert | null>
  /** For the CLI, whose user manages every organisation. */
  findInAnyOrganisation(publicId: string): Promise<Alert | null>
  /** Writes `alert.added` to the audit log. Rejects with `tooManyAlerts` if the organisation has `maxAlerts` already. */
  add(alert: NewAlert, by: Actor): Promise<Alert>
  /** Writes `alert.updated` to the audit log. Null if the alert was removed meanwhile. */
  update(alert: Alert, changes: AlertChanges, at: Instant, by: Actor): Promise<Alert | null>
  /** Writes `alert.secret_rotated` to the audit log. Null if the alert was removed meanwhile. */
  rotateSecret(
    alert: Alert,
    secret: { sealed: string; oldUntil: Instant },
    at: Instant,
    by: Actor,
  ): Promise<Alert | null>
  /** Cancels its pending deliveries. Writes `alert.removed` to the audit log. */
  remove(alert: Alert, at: Instant, by: Actor): Promise<void>
  disable(alert: Alert, reason: string, at: Instant): Promise<void>
}

export const maxAlerts = 20

export function secondSignalWebhook(): DomainError {
  return new DomainError('conflict', 'Another alert of this organisation already gets signals. Change that one first.')
}

export function generateAlertId(): string {
  return `alr_${randomBase62(24)}`
}

export function tooManyAlerts(): DomainError {
  return new DomainError(
    'conflict',
    `This organisation already has ${maxAlerts} alerts, the most it may have. Remove one first.`,
  )
}
