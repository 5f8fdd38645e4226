import type { Alert } from './alert.ts'
import type { Message } from './message.ts'

/** How an attempt to send ended. */
export interface Attempt {
  outcome: 'sent' | 'retry' | 'rejected' | 'gone'
  /** The HTTP status, or the SMTP reply code. */
  status: number | null
  /** The beginning of the response, as one printable line. */
  response: string | null
  /** The problem, and its fix. Null if it was sent, except for the part of a report on a pull request that was refused. */
  error: string | null
  /** How long the receiver asked to wait before the next attempt, at most an hour. Undefined if it did not ask. */
  retryAfterMs?: number
}

/** An alert with its secrets decrypted. */
export interface Target extends Pick<Alert, 'channel' | 'name'> {
  alertId: Alert['publicId']
  /** A URL, email addresses separated by commas, the routing key of PagerDuty, or the team and API key of Linear. */
  target: string
  /** The signing secrets of a webhook that are valid now, the newest first. Of Slack, the bot token. */
  secrets: string[]
}

/** Sends the text of a JSON array of CloudEvents. */
export type SendEvents = (target: Target, id: string, body: string) => Promise<Attempt>

/** `id` is the same in every attempt at the same delivery. Never rejects: failures are part of the result. */
export type SendMessage = (target: Target, id: string, message: Message) => Promise<Attempt>
