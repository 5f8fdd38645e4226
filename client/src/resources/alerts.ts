import { requestData } from '../data.ts'
import { createPages, type Pages } from '../page.ts'
import type { RequestOptions, Transport } from '../request.ts'
import type {
  AddedAlert,
  Alert,
  AlertDelivery,
  AlertUpdate,
  NewAlert,
  PageQuery,
  RotatedAlertSecret,
  SecretRotation,
  TestedAlert,
} from '../types.ts'

export type Alerts = ReturnType<typeof alerts>

// The receiver has 10 s to respond.
const testTimeoutMs = 30_000

/** Where people are told about regressions. Needs a key with the role `admin`. */
export function alerts(service: Transport) {
  const pathOf = (alertId: string) => `/alerts/${encodeURIComponent(alertId)}`
  return {
    list(query?: PageQuery, options?: RequestOptions): Pages<Alert> {
      return createPages(service, '/alerts', query, options)
    },

    get(alertId: string, options?: RequestOptions): Promise<Alert> {
      return requestData(service, { method: 'GET', path: pathOf(alertId) }, options)
    },

    /** Adds an alert. Only this response contains the signing secret of a webhook. */
    add(body: NewAlert, options?: RequestOptions): Promise<AddedAlert> {
      return requestData(service, { method: 'POST', path: '/alerts', body }, options)
    },

    /** Changes everything that is given. The channel cannot be changed. */
    update(alertId: string, body: AlertUpdate, options?: RequestOptions): Promise<Alert> {
      return requestData(service, { method: 'PATCH', path: pathOf(alertId), body }, options)
    },

    /** Removes an alert, and cancels what is waiting to be sent to it. */
    remove(alertId: string, options?: RequestOptions): Promise<void> {
      return service.json({ method: 'DELETE', path: pathOf(alertId) }, options)
    },

    /** Sends a test message. The result says whether the receiver accepted it. The timeout defaults to 30,000 ms. */
    test(alertId: string, options?: RequestOptions): Promise<TestedAlert> {
      return requestData(service, { method: 'POST', path: `${pathOf(alertId)}/test`, timeout: testTimeoutMs }, options)
    },

    /** Creates a new signing secret. Only this response contains it. Requests carry both signatures for `overlap_hours`. */
    rotateSecret(alertId: string, body: SecretRotation = {}, options?: RequestOptions): Promise<RotatedAlertSecret> {
      return requestData(service, { method: 'POST', path: `${pathOf(alertId)}/rotate-secret`, body }, options)
    },

    /** Lists what was sent, what is waiting and what failed, of all alerts. The newest comes first. */
    deliveries(query?: PageQuery, options?: RequestOptions): Pages<AlertDelivery> {
      return createPages(service, '/alerts/deliveries', query, options)
    },

    /** The same of one alert. */
    deliveriesOf(alertId: string, query?: PageQuery, options?: RequestOptions): Pages<AlertDelivery> {
      return createPages(service, `${pathOf(alertId)}/deliveries`, query, options)
    },

    /** Sends a failed delivery again, with the same ID. */
    retry(deliveryId: string, options?: RequestOptions): Promise<AlertDelivery> {
      const path = `/alerts/deliveries/${encodeURIComponent(deliveryId)}/retry`
      return requestData(service, { method: 'POST', path }, options)
    },
  }
}
