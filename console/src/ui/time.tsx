import { mediumDate, shortTime } from './locale.ts'
import { formatRelative } from './relative-time.ts'

/** A time in the reader's time zone, with UTC to the second on hover. */
export function Time({ at, as = 'full' }: { at: string; as?: 'full' | 'date' | 'relative' }) {
  const time = new Date(at)
  const formats = { full: formatTime, date: formatDate, relative: (at: Date) => formatRelative(at) }
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
