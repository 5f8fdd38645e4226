import type { Interval } from '@promptledger/client'

const dayMs = 86_400_000

export const presets = {
  week: { label: '7 days', days: 7 },
  month: { label: '30 days', days: 30 },
  quarter: { label: '90 days', days: 90 },
  year: { label: '1 year', days: 365 },
} as const

export type Preset = keyof typeof presets

const dateFormat = /^\d{4}-\d{2}-\d{2}$/

/** The time that the page covers: a preset that ends now, or the days between two dates in the reader's time zone. */
export interface TimeRange {
  preset: Preset | null
  from: Date
  to: Date
}

export function rangeFrom(params: URLSearchParams, now: Date): TimeRange {
  const [from, to] = [parseDate(params.get('from')), parseDate(params.get('to'))]
  if (from !== null || to !== null) {
    const end = to === null ? now : new Date(to.getTime() + dayMs)
    const start = from ?? new Date(end.getTime() - 365 * dayMs)
    if (start < end) return { preset: null, from: start, to: end }
  }
  const requested = params.get('range') as Preset | null
  const preset = requested !== null && Object.hasOwn(presets, requested) ? requested : 'year'
  return { preset, from: new Date(now.getTime() - presets[preset].days * dayMs), to: now }
}

/** Midnight of a date such as 2026-11-15 in the reader's time zone. */
function parseDate(text: string | null): Date | null {
  if (text === null || !dateFormat.test(text)) return null
  const date = new Date(`${text}T00:00`)
  return Number.isNaN(date.getTime()) ? null : date
}

/** Long enough for each interval to contain signals, short enough to show when something changed. */
export function intervalFor({ from, to }: TimeRange): Interval {
  const days = (to.getTime() - from.getTime()) / dayMs
  if (days <= 3) return 'hour'
  return days <= 100 ? 'day' : 'week'
}
