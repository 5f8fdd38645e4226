import { relativeTime } from './locale.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
// From where on people count in a unit: 10 days, but 2 weeks; 23 hours, but yesterday.
const units: [Parameters<typeof relativeTime>[1], lengthMs: number, fromMs: number][] = [
  ['year', 365 * dayMs, 1.5 * 365 * dayMs],
  ['month', 30 * dayMs, 45 * dayMs],
  ['week', 7 * dayMs, 10.5 * dayMs],
  ['day', dayMs, 23.5 * hourMs],
  ['hour', hourMs, 59.5 * minuteMs],
  ['minute', minuteMs, minuteMs],
]

/** Such as in 2 weeks, rounded as people do. */
export function formatRelative(time: Date, now = Date.now()): string {
  const offsetMs = time.getTime() - now
  const unit = units.find(([, , fromMs]) => Math.abs(offsetMs) >= fromMs)
  if (unit === undefined) return 'just now'
  const [name, lengthMs] = unit
  return relativeTime(Math.sign(offsetMs) * Math.round(Math.abs(offsetMs) / lengthMs), name)
}
