import type { Interval } from '@promptledger/client'

const day = 86_400_000

export const ranges = {
  week: { name: '7 days', days: 7 },
  month: { name: '30 days', days: 30 },
  quarter: { name: '90 days', days: 90 },
  year: { name: '1 year', days: 365 },
} as const

export type RangeName = keyof typeof ranges

const dateShape = /^\d{4}-\d{2}-\d{2}$/

/** The span of time that a view shows: one that ends now, by its name, or one between two days of the reader. */
export interface Range {
  name: RangeName | null
  from: Date
  to: Date
}

export function rangeOf(address: URLSearchParams, now: Date): Range {
  const [from, to] = [dayOf(address.get('from')), dayOf(address.get('to'))]
  if (from !== null || to !== null) {
    const end = to === null ? now : new Date(to.getTime() + day)
    const start = from ?? new Date(end.getTime() - 365 * day)
    if (start < end) return { name: null, from: start, to: end }
  }
  const asked = address.get('range') as RangeName | null
  const name = asked !== null && Object.hasOwn(ranges, asked) ? asked : 'year'
  return { name, from: new Date(now.getTime() - ranges[name].days * day), to: now }
}

/** Midnight of a day such as 2026-11-15, in the reader's zone. */
function dayOf(text: string | null): Date | null {
  if (text === null || !dateShape.test(text)) return null
  const date = new Date(`${text}T00:00`)
  return Number.isNaN(date.getTime()) ? null : date
}

/** Long enough that there are signals in it, short enough to see what happened. */
export function intervalOf({ from, to }: Range): Interval {
  const days = (to.getTime() - from.getTime()) / day
  if (days <= 3) return 'hour'
  return days <= 100 ? 'day' : 'week'
}
