const dateAndTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const dateOnly = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' })

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const units: [Intl.RelativeTimeFormatUnit, lengthMs: number][] = [
  ['year', 365 * dayMs],
  ['month', 30 * dayMs],
  ['week', 7 * dayMs],
  ['day', dayMs],
  ['hour', hourMs],
  ['minute', minuteMs],
]

/** A time in the reader's time zone, with UTC to the second on hover. */
export function Time({ at, as = 'full' }: { at: string; as?: 'full' | 'date' | 'relative' }) {
  const time = new Date(at)
  const formats = { full: formatTime, date: formatDate, relative: formatRelative }
  return (
    <time dateTime={at} title={formatUtc(time)}>
      {formats[as](time)}
    </time>
  )
}

export function formatTime(time: Date): string {
  return dateAndTime.format(time)
}

export function formatDate(time: Date): string {
  return dateOnly.format(time)
}

function formatUtc(time: Date): string {
  return `${time.toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

function formatRelative(time: Date): string {
  const offsetMs = time.getTime() - Date.now()
  const unit = units.find(([, lengthMs]) => Math.abs(offsetMs) >= lengthMs)
  if (unit === undefined) return 'just now'
  const [name, lengthMs] = unit
  return relative.format(Math.trunc(offsetMs / lengthMs), name)
}
