import { type DateFormat, dateFormat } from '../ui/locale.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

interface Step {
  lengthMs: number
  first: (from: Date) => Date
  next: (tick: Date) => Date
  format: DateFormat
}

const timeFormat = dateFormat({ weekday: 'short', hour: '2-digit', minute: '2-digit' })
const dayFormat = dateFormat({ day: 'numeric', month: 'short' })
const monthFormat = dateFormat({ month: 'short', year: 'numeric' })

// Steps follow the reader's calendar, so ticks stay at midnight across daylight saving changes.
function hours(count: number): Step {
  return {
    lengthMs: count * hourMs,
    first: (from) => new Date(from.getFullYear(), from.getMonth(), from.getDate()),
    next: (tick) => new Date(tick.getFullYear(), tick.getMonth(), tick.getDate(), tick.getHours() + count),
    format: timeFormat,
  }
}

function days(count: number): Step {
  return {
    lengthMs: count * dayMs,
    first: (from) => new Date(from.getFullYear(), from.getMonth(), from.getDate()),
    next: (tick) => new Date(tick.getFullYear(), tick.getMonth(), tick.getDate() + count),
    format: dayFormat,
  }
}

function months(count: number): Step {
  return {
    lengthMs: count * 30 * dayMs,
    first: (from) => new Date(from.getFullYear(), from.getMonth() - (from.getMonth() % count), 1),
    next: (tick) => new Date(tick.getFullYear(), tick.getMonth() + count, 1),
    format: monthFormat,
  }
}

const steps = [
  hours(3),
  hours(6),
  hours(12),
  days(1),
  days(2),
  days(7),
  days(14),
  months(1),
  months(2),
  months(3),
  months(6),
  months(12),
]

interface Tick {
  at: Date
  label: string
}

/** Round times between `from` and `to`, at most about `maxTicks`. */
export function ticksBetween(from: Date, to: Date, maxTicks: number): Tick[] {
  const spanMs = to.getTime() - from.getTime()
  const step = steps.find(({ lengthMs }) => spanMs / lengthMs <= maxTicks) ?? months(12)
  const ticks: Tick[] = []
  for (let at = step.first(from); at <= to; at = step.next(at)) {
    if (at >= from) ticks.push({ at, label: step.format.format(at) })
  }
  return ticks
}
