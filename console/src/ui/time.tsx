import { formatRelative, mediumDate, shortTime } from './locale.ts'

type TimeProps<At> = { at: At; as?: 'full' | 'date' | 'relative' }

/** A time that may not have come, which `none` says, such as `Never`. */
export function TimeOr({ at, none, ...props }: TimeProps<string | null> & { none: string }) {
  return at === null ? <span className="muted">{none}</span> : <Time at={at} {...props} />
}

/** A time in the reader's time zone, with UTC to the second on hover. */
export function Time({ at, as = 'full' }: TimeProps<string>) {
  const time = new Date(at)
  const formats = { full: formatTime, date: mediumDate, relative: (at: Date) => formatRelative(at) }
  return (
    <time dateTime={at} title={formatUtc(time)}>
      {formats[as](time)}
    </time>
  )
}

function formatTime(time: Date): string {
  return `${mediumDate(time)}, ${shortTime(time)}`
}

function formatUtc(time: Date): string {
  return `${time.toISOString().slice(0, 19).replace('T', ' ')} UTC`
}
