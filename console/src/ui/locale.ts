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

/** Such as 3 weeks ago, yesterday, or in 2 hours, from a whole number of units. */
export function relativeTime(count: number, unit: 'year' | 'month' | 'week' | 'day' | 'hour' | 'minute'): string {
  const distance = Math.abs(count)
  const isNamed = distance === 1 && unit !== 'hour' && unit !== 'minute'
  if (isNamed) return unit === 'day' ? (namedDays[count] as string) : `${count < 0 ? 'last' : 'next'} ${unit}`
  const length = `${wholeNumber(distance)} ${unit}${distance === 1 ? '' : 's'}`
  return count < 0 ? `${length} ago` : `in ${length}`
}
