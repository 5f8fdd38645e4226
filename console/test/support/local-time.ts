/** The test browser's time zone: not UTC, so that a mix-up shows. */
export const timeZone = 'Europe/Berlin'

/** A date in the test browser's time zone, as the date fields have it. */
export function localDate(at: number): string {
  return new Intl.DateTimeFormat('sv-SE', { timeZone }).format(at)
}

/** A day in the test browser's time zone, as a chart labels it: 27 Oct. */
export function localDay(at: number): string {
  return new Intl.DateTimeFormat('en-GB', { timeZone, day: 'numeric', month: 'short' }).format(at)
}

/** A time in the test browser's time zone, as the time fields have it. */
export function localDateTime(at: number): string {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
  return format.format(at)
}
