import { countOf } from './number.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** A length of time in whole days, or in hours if it is shorter: 20 days. */
export function formatDuration(ms: number): string {
  if (ms >= dayMs) return countOf(Math.floor(ms / dayMs), 'day')
  if (ms >= hourMs) return countOf(Math.floor(ms / hourMs), 'hour')
  return 'less than an hour'
}
