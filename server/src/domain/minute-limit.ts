import { type BoundedMap, createBoundedMap } from './bounded-map.ts'
import { LimitError } from './limit-error.ts'
import { type Clock, type Instant, minute } from './time.ts'

/** More in a minute than one sender may send. Nothing beyond the limit is counted. */
export function minuteLimitError(limit: number, resetsAt: Instant, message: string): LimitError {
  return new LimitError(message, limit, limit, resetsAt)
}

/** Limits what each sender sends. A minute starts with the first of it. */
export interface MinuteLimit {
  /** Counts one, or throws a `LimitError`. */
  count(sender: string): void
}

interface Minute {
  startedAt: Instant
  count: number
}

/** Takes about 200 bytes for each sender. Beyond `maxSenders`, the one that has been silent for longest starts a new minute. */
export function createMinuteLimit(
  limit: number,
  message: string,
  maxSenders: number,
  clock: Clock,
  windowMs = minute,
): MinuteLimit {
  const minutes: BoundedMap<Minute> = createBoundedMap(maxSenders)
  return {
    count(sender) {
      const now = clock()
      const current = minutes.get(sender)
      // One that starts in the future is from before the clock was set back.
      if (current === undefined || now >= current.startedAt + windowMs || now < current.startedAt) {
        minutes.set(sender, { startedAt: now, count: 1 })
        return
      }
      if (current.count >= limit) throw minuteLimitError(limit, current.startedAt + windowMs, message)
      current.count++
    },
  }
}
