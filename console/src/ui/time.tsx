import { mediumDate, relativeTime, shortTime } from './locale.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const units: [Parameters<typeof relativeTime>[1], lengthMs: number][] = [
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
  return `${mediumDate(time)}, ${shortTime(time)}`
}

export function formatDate(time: Date): string {
  return mediumDate(time)
}

function formatUtc(time: Date): string {
  return `${time.toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

function formatRelative(time: Date): string {
  const offsetMs = time.getTime() - Date.now()
  const unit = units.find(([, lengthMs]) => Math.abs(offsetMs) >= lengthMs)
  if (unit === undefined) return 'just now'
  const [name, lengthMs] = unit
  return relativeTime(Math.trunc(offsetMs / lengthMs), name)
}
