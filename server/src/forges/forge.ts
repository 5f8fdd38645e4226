import type { Report } from '../domain/history/report.ts'
import type { Headers, WebhookRequest } from '../domain/repositories/webhook-request.ts'
import type { Instant } from '../domain/time.ts'

/** Everything that differs between forges. */
export interface Forge {
  /** The name shown to users. */
  title: string
  /** The user name that git sends with a token over https. */
  tokenUser: string
  /** Whether one of the secrets signed exactly these bytes. */
  verifySignature(request: WebhookRequest, secrets: string[], now: Instant): boolean
  /** The event name, and the forge's delivery id, which stays the same when the forge resends the delivery. */
  readHeaders(headers: Headers): { event: string; deliveryId: string | null }
  /** What a delivery reports, without events if it concerns something else. Throws if a field is malformed. */
  readBody(event: string, body: string): Report
  /** Creates a webhook secret in the format that the forge accepts. */
  generateSecret(): string
  /** The ref of a pull request's newest commit; null if the forge publishes none. */
  pullRef(number: number): string | null
  /** The path of a commit's page, relative to the repository's page. */
  commitPath(sha: string): string
  /** The path of a pull request's page, relative to the repository's page. */
  pullPath(number: number): string
  /** The pull request that a commit on the default branch merges, according to its message. */
  mergeReference(commit: { parents: number; subject: string; message: string }): number | null
  /** Whether the forge itself created the commit, as it does for merges and for edits in its web interface. */
  isForgeCommitter(committer: { name: string; email: string }): boolean
  /** The steps in the forge's web interface that set up the webhook. */
  setUpSteps(webhook: { url: string; secret: string; webUrl: string }): string[]
}
