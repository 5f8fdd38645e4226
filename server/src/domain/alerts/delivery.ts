import type { Actor } from '../access/audit.ts'
import type { PageRequest } from '../page.ts'
import { randomBase62 } from '../random.ts'
import { hour, type Instant, minute } from '../time.ts'
import type { Alert } from './alert.ts'
import type { Attempt } from './channel.ts'
import type { DeliveryEvent } from './event.ts'
import type { Message } from './message.ts'

/** `cancelled`: the alert was removed, or what it would have said is no longer true. */
export const alertDeliveryStates = ['pending', 'sent', 'failed', 'cancelled'] as const

export type AlertDeliveryState = (typeof alertDeliveryStates)[number]

/** One message to one alert, or to a pull request. */
export interface AlertDelivery {
  id: number
  organisationId: number
  /** Starts with `msg_`. Receivers recognise a repeated message by it. */
  publicId: string
  /** Null for a comment on a pull request. */
  alertId: number | null
  event: DeliveryEvent
  message: Message
  state: AlertDeliveryState
  attempts: number
  /** When the next attempt is due. */
  dueAt: Instant
  /** What the last attempt was answered with. */
  status: number | null
  response: string | null
  error: string | null
  createdAt: Instant
  finishedAt: Instant | null
}

interface Comment {
  text: string
  at: Instant
}

export interface ListedAlertDelivery extends AlertDelivery {
  /** Null for a comment on a pull request, and if the alert was removed. */
  alert: Pick<Alert, 'publicId' | 'name' | 'channel'> | null
}

/** A delivery to store. */
export interface NewAlertDelivery extends Pick<AlertDelivery, 'publicId' | 'alertId' | 'event' | 'message'> {
  round: number
  /** Counts deliveries of the same event and round. */
  repeat: number
  /** Why it is stored as cancelled, to remember it without sending it. Null to send it. */
  unsent: string | null
}

/** A delivery that this process may send until its lease ends. */
export interface ClaimedDelivery extends AlertDelivery {
  leaseOwner: string
  /** Null for a comment on a pull request. */
  alert: Alert | null
}

export type DueDelivery = Pick<AlertDelivery, 'id' | 'organisationId'>

/** The result of an attempt. */
type DeliveryResult = Pick<AlertDelivery, 'state' | 'status' | 'response' | 'error' | 'dueAt' | 'finishedAt'>

export interface AlertDeliveryStore {
  /**
   * Deliveries that are due, of up to `limit` organisations with an ID above `afterOrganisation`, in the order of their IDs. At most two
   * of each, first attempts first.
   */
  due(now: Instant, afterOrganisation: number, limit: number): Promise<DueDelivery[]>
  /** Null if another process was faster, or the delivery is no longer due. */
  claim(delivery: DueDelivery, owner: string, now: Instant, until: Instant): Promise<ClaimedDelivery | null>
  /** Records an attempt. False if the lease was lost, or the delivery was cancelled meanwhile. */
  finish(delivery: ClaimedDelivery, result: DeliveryResult): Promise<boolean>
  /** Ends the lease of a delivery that was not attempted. */
  release(delivery: ClaimedDelivery, at: Instant): Promise<void>
  /** Across all organisations. */
  countPending(): Promise<number>
  /** The newest negative comments on a prompt since then. */
  negativeComments(organisationId: number, promptPublicId: string, since: Instant, limit: number): Promise<Comment[]>
  find(organisationId: number, publicId: string): Promise<ListedAlertDelivery | null>
  /** The newest delivery of each alert. */
  newestOfEach(organisationId: number): Promise<AlertDelivery[]>
  /** The deliveries about a regression, to alerts and to the pull request, the newest first, up to 100. */
  ofRegression(organisationId: number, regressionId: number): Promise<ListedAlertDelivery[]>
  /**
   * A failed delivery becomes pending, due at once, with its attempts counted from 0, and an entry in the audit log. Null unless
   * it had failed, and if the alert has a later message about the same: the last message would be out of date.
   * Reports on pull requests check the current state when they are sent.
   */
  retry(delivery: ListedAlertDelivery, at: Instant, by: Actor): Promise<AlertDelivery | null>
  /** The newest first. `alertId` is null for all of the organisation. */
  page(
    organisationId: number,
    alertId: number | null,
    request: PageRequest,
  ): Promise<{ deliveries: ListedAlertDelivery[]; totalCount: number }>
}

/** More than that wait for one alert only if it is broken. The oldest are given up. */
export const maxPendingOfAlert = 1_000

export function generateDeliveryId(): string {
  return `msg_${randomBase62(24)}`
}

const second = 1_000
// Three days.
const retryDelaysMs = [
  5 * second,
  minute,
  5 * minute,
  30 * minute,
  ...[2, 5, 10, 14, 20, 20].map((hours) => hours * hour),
]
const jitter = 0.1

/** What an attempt leads to: done, another attempt after a growing delay, or failed. `random` is from 0 to 1. */
export function resultOf(
  delivery: Pick<AlertDelivery, 'attempts'>,
  attempt: Attempt,
  now: Instant,
  random: number,
): DeliveryResult {
  const { outcome, status, response, error, retryAfterMs = 0 } = attempt
  const answer = { status, response, error }
  if (outcome === 'sent') return { ...answer, state: 'sent', dueAt: now, finishedAt: now }
  const delayMs = outcome === 'retry' ? retryDelaysMs[delivery.attempts] : undefined
  if (delayMs === undefined) return { ...answer, state: 'failed', dueAt: now, finishedAt: now }
  // So that many deliveries to one receiver do not come back all at once.
  const spreadMs = delayMs * (1 - jitter + 2 * jitter * random)
  return { ...answer, state: 'pending', dueAt: now + Math.round(Math.max(spreadMs, retryAfterMs)), finishedAt: null }
}
