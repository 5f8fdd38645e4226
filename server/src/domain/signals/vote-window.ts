import type { Instant } from '../time.ts'
import type { Span } from './interval.ts'
import type { VersionText } from './version.ts'

/** Which signals count for a change: those that name a version of it, and those of the times in which it was live. */
export interface VoteWindow {
  versions: readonly VersionText[]
  spans: readonly Span[]
  /** Whether signals in the spans that name a version count for another change. */
  unversionedOnly: boolean
  /** Signals from this time on do not count. */
  until: Instant
}
