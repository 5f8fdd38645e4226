const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const date = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' })

const second = 1_000
const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 365 * 86_400 * second],
  ['month', 30 * 86_400 * second],
  ['week', 7 * 86_400 * second],
  ['day', 86_400 * second],
  ['hour', 3_600 * second],
  ['minute', 60 * second],
]

/** A time in the reader's zone; UTC, to the second, on hover. */
export function Time({ at, as = 'full' }: { at: string; as?: 'full' | 'date' | 'ago' }) {
  const time = new Date(at)
  return (
    <time dateTime={at} title={utc(time)}>
      {as === 'ago' ? ago(time) : (as === 'date' ? date : full).format(time)}
    </time>
  )
}

export function utc(time: Date): string {
  return `${time.toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

export function formatTime(time: Date): string {
  return full.format(time)
}

export function formatDate(time: Date): string {
  return date.format(time)
}

function ago(time: Date): string {
  const passed = time.getTime() - Date.now()
  const [unit, length] = units.find(([, length]) => Math.abs(passed) >= length) ?? ['second', second]
  return unit === 'second' ? 'just now' : relative.format(Math.trunc(passed / length), unit)
}
