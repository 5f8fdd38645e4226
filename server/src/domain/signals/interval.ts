import { invalid } from '../errors.ts'
import { day, hour, type Instant } from '../time.ts'

export const intervals = ['hour', 'day', 'week'] as const

export type Interval = (typeof intervals)[number]

const lengths: Record<Interval, number> = { hour, day, week: 7 * day }
// Weeks start on Monday, and 1970 started on a Thursday. The origin lies before every instant, so no remainder is negative.
const origins: Record<Interval, Instant> = { hour: 0, day: 0, week: -3 * day }
const maxIntervals = 10_000

export interface Span {
  from: Instant
  until: Instant
}

/** The start of each interval that the span overlaps, UTC. */
export function intervalStarts(interval: Interval, { from, until }: Span): Instant[] {
  const length = lengths[interval]
  const first = intervalStart(interval, from)
  const count = Math.ceil((until - first) / length)
  if (count > maxIntervals) {
    throw invalid(`The time range covers more than ${maxIntervals} intervals. Use a shorter range or a longer interval`)
  }
  return Array.from({ length: count }, (_, i) => first + i * length)
}

export function intervalStart(interval: Interval, at: Instant): Instant {
  return at - ((at - origins[interval]) % lengths[interval])
}

/** The start of one interval. All others start at multiples of the length from it. */
export function intervalOrigin(interval: Interval): Instant {
  return origins[interval]
}

export function intervalLength(interval: Interval): number {
  return lengths[interval]
}
