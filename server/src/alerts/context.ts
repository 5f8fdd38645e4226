import type { Clock } from '../domain/time.ts'
import type { Network } from '../net/request.ts'

/** The dependencies and settings of sending. */
export interface ChannelContext {
  /** Where webhooks may go. */
  network: Network
  /** Null if the operator has not set up email. */
  mail: MailSettings | null
  /** URL at which people reach the service, without a trailing slash. */
  publicUrl: () => string
  clock: Clock
  /** For failures whose reason concerns the operator only. */
  log: { warn(details: object, message: string): void }
  /** Where PagerDuty takes events. Default: its public API. */
  pagerDutyUrl?: string
  /** Where Linear takes GraphQL. Default: its public API. */
  linearUrl?: string
  /** The Web API of Slack. Default: its public one. */
  slackApiUrl?: string
}

export interface MailSettings {
  /** smtp:// or smtps://, with user name and password. */
  url: string
  from: { name: string; address: string }
}
