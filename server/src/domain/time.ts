import { invalidField } from './errors.ts'

/** Milliseconds since 1970, UTC. Every time is stored and passed in this form. */
export type Instant = number

export type Clock = () => Instant

const iso = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2})(?::(\d{2})(?:[.,]\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})$/i

// ISO 8601 writes years from here on differently.
export const yearTenThousand = Date.UTC(10_000, 0)

let lastInstant: Instant = 0
let lastText = new Date(lastInstant).toISOString()

/** Caches the last result, because responses of one batch mostly share the same millisecond. */
export function isoTime(at: Instant): string {
  if (at !== lastInstant) {
    lastText = new Date(at).toISOString()
    lastInstant = at
  }
  return lastText
}

/** To the minute, such as `2026-11-15 09:30`. */
export function shortTime(at: Instant): string {
  return isoTime(at).slice(0, 16).replace('T', ' ')
}

export function timeOrNull(at: Instant | null): string | null {
  return at === null ? null : isoTime(at)
}

/** Parses an ISO 8601 time with a time zone. Rejects anything ambiguous. */
export function parseTime(field: string, text: string): Instant {
  const at = iso.test(text) ? Date.parse(text.replace(',', '.')) : Number.NaN
  if (Number.isNaN(at) || at < 0 || at >= yearTenThousand || !dayExists(text)) {
    throw invalidField(field, 'must be an ISO 8601 time with a time zone, such as 2026-11-15T09:30:00.000Z')
  }
  return at
}

// Date.parse reads 2026-02-30 as 2 March.
function dayExists(text: string): boolean {
  const [year, month, day] = text.slice(0, 10).split('-').map(Number) as [number, number, number]
  return day <= new Date(Date.UTC(year, month, 0)).getUTCDate()
}

let lastMonth = monthOf(0)

/** Remembers the last month, because almost all instants of a batch are in the same one. */
function monthAround(at: Instant): typeof lastMonth {
  if (!(at >= lastMonth.start && at < lastMonth.next)) lastMonth = monthOf(at)
  return lastMonth
}

function monthOf(at: Instant): { start: Instant; next: Instant } {
  const date = new Date(at)
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
  return { start: Date.UTC(year, month), next: Date.UTC(year, month + 1) }
}

export function monthStart(at: Instant): Instant {
  return monthAround(at).start
}

export function nextMonthStart(at: Instant): Instant {
  return monthAround(at).next
}

export const minute = 60_000
export const hour = 60 * minute
export const day = 24 * hour

export function hourStart(at: Instant): Instant {
  return at - (at % hour)
}

export function dayStart(at: Instant): Instant {
  return at - (at % day)
}

/** The Monday at 00:00 UTC. 1970 began on a Thursday. */
export function weekStart(at: Instant): Instant {
  return at - ((at + 3 * day) % (7 * day))
}

export function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}

/** Resolves after the events that are waiting now, so that long work does not hold up requests. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

const turnMs = 5

/** A function to call between the steps of long work. It lets waiting events run if the steps since the last time took 5 ms. */
export function createTurns(): () => Promise<void> | undefined {
  let since = performance.now()
  return () => {
    if (performance.now() - since < turnMs) return undefined
    return nextTurn().then(() => {
      since = performance.now()
    })
  }
}

/** The items that pass a test that takes long, such as matching a glob with texts of tenants. Lets waiting events run in between. */
export async function filterInTurns<T>(items: readonly T[], test: (item: T) => boolean): Promise<T[]> {
  const takeTurns = createTurns()
  const passing: T[] = []
  for (const item of items) {
    if (test(item)) passing.push(item)
    await takeTurns()
  }
  return passing
}
