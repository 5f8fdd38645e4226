import type { Prompt } from '../prompt.ts'
import type { Instant } from '../time.ts'
import type { Span } from './interval.ts'
import type { SignalCursor, SignalValue } from './signal.ts'
import type { VersionText } from './version.ts'

/** The next few signals of a span, in order of the time that they count for. */
export interface VoteRead extends Span {
  /** Only signals with this version; null for only those without one; absent for all. */
  version?: VersionText | null
  order: 'oldest' | 'newest'
  /** Where the read before ended. */
  after: SignalCursor | null
  /** How many signals to examine. */
  limit: number
}

export interface Vote {
  id: number
  at: Instant
  value: SignalValue
  /** A hash of who voted; null if the signal does not say. */
  voter: string | null
  /** JSON text. Null unless it may have the requested member. */
  metadata: string | null
}

export interface VoteSlice {
  votes: Vote[]
  examined: number
  /** The last signal examined. Null if there are no more. */
  last: SignalCursor | null
}

export interface VoteStore {
  /**
   * Reads up to `limit` retained signals. Reads no metadata unless `member` names the member of it that is wanted; an
   * empty name for any. A read of
   * signals without a version examines those with one too, so that `limit` bounds its cost.
   */
  votes(prompt: Prompt, read: VoteRead, member?: string): Promise<VoteSlice>
  /** Whether any signal of the organisation names its voter. */
  hasVoters(organisationId: number): Promise<boolean>
}
