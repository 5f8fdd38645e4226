import type { Report } from '../domain/history/report.ts'
import type { Instant } from '../domain/time.ts'

export type Headers = Record<string, string | string[] | undefined>

/** A delivery as it came in: its headers, and the bytes that were signed. */
export interface Incoming {
  headers: Headers
  body: Buffer
}

/** What is particular to a forge. */
export interface Forge {
  /** How people call it. */
  title: string
  /** The user that the forge wants beside a token, when git fetches over https. */
  tokenUser: string
  /** True only for a signature that one of the secrets makes over exactly these bytes. */
  verify(incoming: Incoming, secrets: string[], now: Instant): boolean
  /** The name of the event, and the forge's own id of the delivery, which is the same when it is sent again. */
  describe(headers: Headers): { event: string; deliveryId: string | null }
  /** What a delivery tells; no events where it is about something else. Throws where it is not of the forge's shape. */
  read(event: string, body: string): Report
  /** A new secret in the form that the forge wants. */
  newSecret(): string
  /** Where the forge keeps the newest commit of a pull request, null where it has no such place. */
  pullRef(number: number): string | null
  /** The page of a commit, below the repository's page. */
  commitPath(sha: string): string
  /** The page of a pull request, below the repository's page. */
  pullPath(number: number): string
  /** The pull request that a commit on the default branch says it came from. */
  markOf(commit: { parents: number; subject: string; message: string }): number | null
  /** Whether the forge made the commit itself, as it does for merges and for edits on its pages. */
  isCommitter(committer: { name: string; email: string }): boolean
  /** What to do on the forge's pages so that it sends deliveries. */
  setUp(webhook: { url: string; secret: string; webUrl: string }): string[]
}
