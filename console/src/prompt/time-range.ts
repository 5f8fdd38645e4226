const hourMs = 3_600_000
const dayMs = 24 * hourMs

export const presets = {
  week: { label: '7 days', days: 7 },
  month: { label: '30 days', days: 30 },
  quarter: { label: '90 days', days: 90 },
  year: { label: '1 year', days: 365 },
  // Longer than any history: the chart starts with the first signal or change.
  all: { label: 'All', days: 20 * 365 },
} as const

export type Preset = keyof typeof presets

const dateFormat = /^\d{4}-\d{2}-\d{2}$/
const timeFormat = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?Z$/

/** The time that the page covers: a preset that ends now, or between two dates or times. Dates are whole days of the reader. */
export interface TimeRange {
  preset: Preset | null
  from: Date
  to: Date
}

export function rangeFrom(params: URLSearchParams, now: Date): TimeRange {
  const [from, to] = [parse(params.get('from'), 0), parse(params.get('to'), dayMs)]
  if (from !== null || to !== null) {
    const end = to ?? now
    const start = from ?? new Date(end.getTime() - 365 * dayMs)
    if (start < end) return { preset: null, from: start, to: end }
  }
  const requested = params.get('range') as Preset | null
  const preset = requested !== null && Object.hasOwn(presets, requested) ? requested : 'year'
  return { preset, from: new Date(now.getTime() - presets[preset].days * dayMs), to: now }
}

const minAroundMs = 14 * dayMs
const maxAroundMs = 90 * dayMs

/** The time around an event: as long before it as after it. */
export function rangeAround(event: string, now: Date): TimeRange {
  const at = Date.parse(event)
  const around = Math.min(maxAroundMs, Math.max(minAroundMs, now.getTime() - at))
  return { preset: null, from: new Date(at - around), to: new Date(Math.min(now.getTime(), at + around)) }
}

/** A time, or midnight of a date such as 2026-11-15 in the reader's time zone, plus `lengthMs`. */
function parse(text: string | null, lengthMs: number): Date | null {
  if (text === null) return null
  if (timeFormat.test(text)) return validDate(new Date(text))
  if (!dateFormat.test(text)) return null
  const date = validDate(new Date(`${text}T00:00`))
  return date && new Date(date.getTime() + lengthMs)
}

function validDate(date: Date): Date | null {
  return Number.isNaN(date.getTime()) ? null : date
}

/** A date or time of the URL for a date field. */
export function dateOf(text: string | null): string {
  const time = text !== null && timeFormat.test(text) ? validDate(new Date(text)) : null
  if (time === null) return text !== null && dateFormat.test(text) ? text : ''
  const parts = [time.getFullYear(), time.getMonth() + 1, time.getDate()]
  return parts.map((part) => String(part).padStart(2, '0')).join('-')
}

/** Sums are by the hour, so nothing more is seen in less time. */
export const minZoomMs = 2 * hourMs

/** The query parameters that zoom to a time, in whole hours: sums are by the hour, and links stay short. */
export function zoomParams(from: number, to: number): { from: string; to: string } {
  const middle = (from + to) / 2
  const half = Math.max(minZoomMs, to - from) / 2
  const [start, end] = [Math.floor((middle - half) / hourMs), Math.ceil((middle + half) / hourMs)]
  return { from: urlTime(start * hourMs), to: urlTime(end * hourMs) }
}

function urlTime(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16)}Z`
}
