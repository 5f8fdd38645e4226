import { type BoundedMap, createBoundedMap } from './bounded-map.ts'
import { DomainError } from './errors.ts'
import { type Clock, type Instant, minute } from './time.ts'

/** More in a minute than one sender may send. */
export class MinuteLimitError extends DomainError {
  readonly limit: number
  readonly used: number
  readonly resetsAt: Instant

  constructor(limit: number, resetsAt: Instant, message: string) {
    super('rate_limited', message)
    this.limit = limit
    // Nothing beyond the limit is counted.
    this.used = limit
    this.resetsAt = resetsAt
  }
}

/** Limits what each sender sends. A minute starts with the first of it. */
export interface MinuteLimit {
  /** Counts one, or throws a `MinuteLimitError`. */
  count(sender: string): void
}

interface Minute {
  startedAt: Instant
  count: number
}

/** Takes about 200 bytes for each sender. Beyond `maxSenders`, the one that has been silent for longest starts a new minute. */
export function createMinuteLimit(limit: number, message: string, maxSenders: number, clock: Clock): MinuteLimit {
  const minutes: BoundedMap<Minute> = createBoundedMap(maxSenders)
  return {
    count(sender) {
      const now = clock()
      const current = minutes.get(sender)
      // One that starts in the future is from before the clock was set back.
      if (current === undefined || now >= current.startedAt + minute || now < current.startedAt) {
        minutes.set(sender, { startedAt: now, count: 1 })
        return
      }
      if (current.count >= limit) throw new MinuteLimitError(limit, current.startedAt + minute, message)
      current.count++
    },
  }
}
