const dateForm = /^\d{4}-\d{2}-\d{2}$/
const timeForm = /^\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(:\d{2})?$/

/** A date such as 2026-11-16, or a time such as 2026-11-16 09:30, in the reader's time zone. Null for anything else, such as 31 February. */
export function parseLocalTime(text: string): Date | null {
  if (!dateForm.test(text) && !timeForm.test(text)) return null
  const time = new Date(text.length === 10 ? `${text}T00:00` : text.replace(' ', 'T'))
  // A browser may take 2026-02-31 for 3 March.
  return !Number.isNaN(time.getTime()) && localTimeText(time).startsWith(text.slice(0, 10)) ? time : null
}

export function isLocalDate(text: string): boolean {
  return dateForm.test(text) && parseLocalTime(text) !== null
}

/** A time such as 2026-11-16 09:30 in the reader's time zone. Seconds appear only if they are not zero. */
export function localTimeText(time: Date): string {
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().replace('T', ' ')
  return local.slice(0, local.slice(17, 19) === '00' ? 16 : 19)
}
