import type { Actor } from '../access/audit.ts'
import { LimitError } from '../limit-error.ts'
import type { Instant } from '../time.ts'
import type { Alert, AlertRules, Channel } from './alert.ts'
import type { Attempt } from './channel.ts'
import type { AlertDelivery, ListedAlertDelivery } from './delivery.ts'

/** The use cases of alerts, shared by the HTTP API and the CLI. */
export interface AlertService {
  /** Rejects a target that the channel cannot send to. */
  add(alert: RequestedAlert, by: Actor): Promise<AddedAlert>
  update(alert: Alert, update: AlertUpdate, by: Actor): Promise<Alert>
  /** Cancels the deliveries that are waiting. */
  remove(alert: Alert, by: Actor): Promise<void>
  /** Replaces the signing secret of a webhook. Requests are signed with both until `overlapMs` have passed. */
  rotateSecret(alert: Alert, overlapMs: number, by: Actor): Promise<RotatedAlertSecret>
  /** Sends a test message at once. Rejects if the organisation has sent too many. */
  test(alert: Alert, by: Actor): Promise<TestedAlert>
  /** Queues a failed delivery again. Rejects unless it failed and its alert is enabled. */
  retry(delivery: ListedAlertDelivery, by: Actor): Promise<AlertDelivery>
}

interface RequestedAlert extends AlertRules {
  organisationId: number
  channel: Channel
  /** A URL, email addresses separated by commas, or the routing key of PagerDuty. */
  target: string
  /** A bot token, with which an alert to Slack mentions the owner. */
  slackToken?: string | null | undefined
}

/** What to change about an alert. Undefined keeps the current value. */
export type AlertUpdate = { [Rule in keyof AlertRules]?: AlertRules[Rule] | undefined } & {
  target?: string | undefined
  /** Null removes it. */
  slackToken?: string | null | undefined
  state?: AlertState | undefined
}

export const alertStates = ['active', 'disabled'] as const

export type AlertState = (typeof alertStates)[number]

export interface AddedAlert {
  alert: Alert
  /** The signing secret of a webhook, which is not shown again. Null for other channels. */
  secret: string | null
}

export interface RotatedAlertSecret {
  secret: string
  oldSecretUntil: Instant
}

export interface TestedAlert extends Attempt {
  /** Starts with `msg_`. */
  id: string
  milliseconds: number
}

export function alertState({ disabledAt }: Pick<Alert, 'disabledAt'>): AlertState {
  return disabledAt === null ? 'active' : 'disabled'
}

/** Too many test messages, which go to addresses that the organisation chooses. */
export function testLimitError(limit: number, used: number, resetsAt: Instant, per = 'per minute'): LimitError {
  return new LimitError(
    `An organisation may send ${limit} test messages ${per}. Try again later.`,
    limit,
    used,
    resetsAt,
  )
}
