import type { Report } from '../domain/history/report.ts'
import type { Headers, WebhookRequest } from '../domain/repositories/delivery.ts'
import type { Instant } from '../domain/time.ts'
import type { MergeReference, ReferencingCommit } from './merge-reference.ts'

/** Everything that differs between forges. */
export interface Forge {
  /** The name shown to users. */
  title: string
  /** The user name that git sends with a token over https. */
  tokenUser: string
  /** The headers that carry a signature or token. A request without any of them is not signed at all. */
  signatureHeaders: string[]
  /** Whether one of the secrets signed exactly these bytes. */
  verifySignature(request: WebhookRequest, secrets: string[], now: Instant): boolean
  /** The event name, and the forge's delivery id, which stays the same when the forge resends the delivery. */
  readHeaders(headers: Headers): { event: string; deliveryId: string | null }
  /**
   * What a delivery reports, without events if it concerns something else. Throws if a field is malformed. `receivedAt` stands in
   * for times that old versions of a forge do not send.
   */
  readBody(event: string, body: string, receivedAt: Instant): Report
  /** Creates a webhook secret in the format that the forge accepts. */
  generateSecret(): string
  /** The ref of a pull request's newest commit; null if the forge publishes none. */
  pullRef(number: number): string | null
  /** The refs of all pull requests, with `*` for the number. */
  pullRefPattern: string
  /** Whether every pull request keeps its ref. GitLab deletes it 14 days after the merge; Bitbucket Cloud publishes none. */
  keepsPullRefs: boolean
  /** The path of a commit's page, relative to the repository's page. */
  commitPath(sha: string): string
  /** The path of a pull request's page, relative to the repository's page. */
  pullPath(number: number): string
  /** The pull request that a commit on the default branch merges, according to its message. */
  mergeReference(commit: ReferencingCommit): MergeReference | null
  /** Whether projects write the page of a pull request into each of its commits, as a line without further words. */
  namesPagesInMessages: boolean
  /** Whether the forge itself created the commit, as it does for merges and for edits in its web interface. */
  isForgeCommitter(committer: { name: string; email: string }): boolean
  /** The steps in the forge's web interface that set up the webhook. */
  setUpSteps(webhook: { url: string; secret: string; webUrl: string }): string[]
}
