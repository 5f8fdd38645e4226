import { invalid } from '../errors.ts'
import type { Instant } from '../time.ts'

export const intervals = ['hour', 'day', 'week'] as const

export type Interval = (typeof intervals)[number]

const hour = 3_600_000
const lengths: Record<Interval, number> = { hour, day: 24 * hour, week: 7 * 24 * hour }
// Weeks begin on Monday; 1970 began on a Thursday. Before all instants that we know, so that nothing has to be negative.
const origins: Record<Interval, Instant> = { hour: 0, day: 0, week: -3 * lengths.day }
const most = 10_000

export interface Span {
  from: Instant
  until: Instant
}

/** The first instants of the intervals that a span touches, UTC. */
export function intervalStarts(interval: Interval, { from, until }: Span): Instant[] {
  const length = lengths[interval]
  const first = intervalStart(interval, from)
  const count = Math.ceil((until - first) / length)
  if (count > most) throw invalid(`from and to must be at most ${most} intervals apart`)
  return Array.from({ length: count }, (_, i) => first + i * length)
}

export function intervalStart(interval: Interval, at: Instant): Instant {
  return at - ((at - origins[interval]) % lengths[interval])
}

/** An instant at which one of them begins, as all others do at multiples of the length from it. */
export function intervalOrigin(interval: Interval): Instant {
  return origins[interval]
}

export function intervalLength(interval: Interval): number {
  return lengths[interval]
}
