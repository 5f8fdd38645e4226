import { invalid } from './errors.ts'

/** Milliseconds since 1970, UTC: how every time is kept and passed on. */
export type Instant = number

export type Clock = () => Instant

const iso = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2})(?::(\d{2})(?:[.,]\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})$/i

// From here on ISO 8601 writes years differently.
export const yearTenThousand = Date.UTC(10_000, 0)

let lastInstant: Instant = 0
let lastText = new Date(lastInstant).toISOString()

/** Answers that are given together mostly tell the same millisecond, so the last text is kept. */
export function isoTime(at: Instant): string {
  if (at !== lastInstant) {
    lastText = new Date(at).toISOString()
    lastInstant = at
  }
  return lastText
}

/** Reads an ISO 8601 time that names its zone; anything that would need guessing is refused. */
export function parseTime(field: string, text: string): Instant {
  const at = iso.test(text) ? Date.parse(text.replace(',', '.')) : Number.NaN
  if (Number.isNaN(at) || at < 0 || at >= yearTenThousand || !dayExists(text)) {
    throw invalid(`${field} must be an ISO 8601 time with a zone, such as 2026-11-15T09:30:00.000Z`)
  }
  return at
}

// Date.parse takes 2026-02-30 for the second of March.
function dayExists(text: string): boolean {
  const [year, month, day] = text.slice(0, 10).split('-').map(Number) as [number, number, number]
  return day <= new Date(Date.UTC(year, month, 0)).getUTCDate()
}

export function monthStart(at: Instant): Instant {
  const date = new Date(at)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth())
}

export function nextMonthStart(at: Instant): Instant {
  const date = new Date(at)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)
}

export const hour = 3_600_000
export const day = 24 * hour

export function hourStart(at: Instant): Instant {
  return at - (at % hour)
}

export function dayStart(at: Instant): Instant {
  return at - (at % day)
}
