import { LimitError } from './limit-error.ts'
import { type Clock, type Instant, minute } from './time.ts'

/** More in a minute than one sender may send. Nothing beyond the limit is counted. */
export function minuteLimitError(limit: number, resetsAt: Instant, message: string): LimitError {
  return new LimitError(message, limit, limit, resetsAt)
}

/** Limits what each sender sends. A minute starts with the first of it. */
interface MinuteLimit {
  /** Counts one, or throws a `LimitError`. */
  count(sender: string): void
}

interface Minute {
  startedAt: Instant
  count: number
}

/**
 * Remembers who sent something in the last two windows: a map that forgets only when it is full would grow by every voter there is. Of more
 * than `maxSenders`, those that have been silent for longest start a new minute.
 */
export function createMinuteLimit(
  limit: number,
  message: string,
  maxSenders: number,
  clock: Clock,
  windowMs = minute,
): MinuteLimit {
  let [recent, earlier] = [new Map<string, Minute>(), new Map<string, Minute>()]
  let recentSince = clock()
  // A time in the future is from before the clock was set back.
  const isOver = (startedAt: Instant, now: Instant) => now >= startedAt + windowMs || now < startedAt

  function minuteOf(sender: string, now: Instant): Minute {
    const isFull = recent.size >= maxSenders / 2 && !recent.has(sender)
    if (isFull || isOver(recentSince, now)) {
      earlier = recent
      recent = new Map()
      recentSince = now
    }
    const last = recent.get(sender) ?? earlier.get(sender)
    const current = last === undefined || isOver(last.startedAt, now) ? { startedAt: now, count: 0 } : last
    recent.set(sender, current)
    return current
  }

  return {
    count(sender) {
      const current = minuteOf(sender, clock())
      if (current.count >= limit) throw minuteLimitError(limit, current.startedAt + windowMs, message)
      current.count++
    },
  }
}
