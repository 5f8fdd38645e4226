/**
 * The page is in English, so its dates and numbers are too, whatever the browser's language: "16 Nov 2026, 14:05" and "10,000".
 * Only the time zone is the reader's. Nothing else calls `toLocaleString` or `Intl`: console/test/locale.test.ts checks that.
 *
 * A page's first use of Intl takes as long as rendering all of home. What home shows is formatted without it, to the same texts,
 * and other formats are made when they are first used.
 */
const locale = 'en-GB'

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sept', 'Oct', 'Nov', 'Dec']
const namedDays: Record<string, string> = { '-1': 'yesterday', '1': 'tomorrow' }

/** A format of Intl that is made when it is first used. */
export interface DateFormat {
  format: (time: Date | number) => string
  formatRange: (from: Date | number, to: Date | number) => string
}

export function dateFormat(options: Intl.DateTimeFormatOptions): DateFormat {
  let made: Intl.DateTimeFormat | undefined
  const get = () => {
    made ??= new Intl.DateTimeFormat(locale, options)
    return made
  }
  return { format: (time) => get().format(time), formatRange: (from, to) => get().formatRange(from, to) }
}

export function numberFormat(options: Intl.NumberFormatOptions): { format: (value: number) => string } {
  let made: Intl.NumberFormat | undefined
  return {
    format: (value) => {
      made ??= new Intl.NumberFormat(locale, options)
      return made.format(value)
    },
  }
}

/** Such as 16 Nov 2026. */
export function mediumDate(time: Date): string {
  return `${shortDate(time)} ${time.getFullYear()}`
}

/** Such as 16 Nov. */
export function shortDate(time: Date): string {
  return `${time.getDate()} ${months[time.getMonth()]}`
}

/** Such as 14:05. */
export function shortTime(time: Date): string {
  return [time.getHours(), time.getMinutes()].map((part) => String(part).padStart(2, '0')).join(':')
}

/** A whole number, such as 10,000. */
export function wholeNumber(value: number): string {
  return String(value).replaceAll(/\B(?=(?:\d{3})+$)/g, ',')
}

type RelativeUnit = 'year' | 'month' | 'week' | 'day' | 'hour' | 'minute'

/** Such as 3 weeks ago, yesterday, or in 2 hours, from a whole number of units. */
export function relativeTime(count: number, unit: RelativeUnit): string {
  const distance = Math.abs(count)
  const isNamed = distance === 1 && unit !== 'hour' && unit !== 'minute'
  if (isNamed) return unit === 'day' ? (namedDays[count] as string) : `${count < 0 ? 'last' : 'next'} ${unit}`
  const length = `${wholeNumber(distance)} ${unit}${distance === 1 ? '' : 's'}`
  return count < 0 ? `${length} ago` : `in ${length}`
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
// From where on people count in a unit: 10 days, but 2 weeks; 23 hours, but yesterday.
const units: [RelativeUnit, lengthMs: number, fromMs: number][] = [
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
