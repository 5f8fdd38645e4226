import type { PageRequest } from '../page.ts'
import type { Instant } from '../time.ts'
import type { Alert } from './alert.ts'
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

export interface ListedAlertDelivery extends AlertDelivery {
  /** Null for a comment on a pull request, and if the alert was removed. */
  alert: Pick<Alert, 'publicId' | 'name' | 'channel'> | null
}

export interface AlertDeliveryStore {
  find(organisationId: number, publicId: string): Promise<ListedAlertDelivery | null>
  /** The newest delivery of each alert. */
  newestOfEach(organisationId: number): Promise<AlertDelivery[]>
  /** The deliveries about a regression, to alerts and to the pull request, the newest first, up to 100. */
  ofRegression(organisationId: number, regressionId: number): Promise<ListedAlertDelivery[]>
  /** A failed delivery becomes pending, due at once, with its attempts counted from 0. Null unless it had failed. */
  retry(delivery: AlertDelivery, at: Instant): Promise<AlertDelivery | null>
  /** The newest first. `alertId` is null for all of the organisation. */
  page(
    organisationId: number,
    alertId: number | null,
    request: PageRequest,
  ): Promise<{ deliveries: ListedAlertDelivery[]; totalCount: number }>
}
