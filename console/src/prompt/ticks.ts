const hour = 3_600_000
const day = 24 * hour

interface Step {
  length: number
  first: (from: Date) => Date
  next: (tick: Date) => Date
  format: Intl.DateTimeFormat
}

const clock = new Intl.DateTimeFormat(undefined, { weekday: 'short', hour: '2-digit', minute: '2-digit' })
const date = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' })
const monthName = new Intl.DateTimeFormat(undefined, { month: 'short', year: 'numeric' })

// By the reader's calendar, so that a tick is at midnight even where the clocks changed.
function hours(count: number): Step {
  return {
    length: count * hour,
    first: (from) => new Date(from.getFullYear(), from.getMonth(), from.getDate()),
    next: (tick) => new Date(tick.getFullYear(), tick.getMonth(), tick.getDate(), tick.getHours() + count),
    format: clock,
  }
}

function days(count: number): Step {
  return {
    length: count * day,
    first: (from) => new Date(from.getFullYear(), from.getMonth(), from.getDate()),
    next: (tick) => new Date(tick.getFullYear(), tick.getMonth(), tick.getDate() + count),
    format: date,
  }
}

function months(count: number): Step {
  return {
    length: count * 30 * day,
    first: (from) => new Date(from.getFullYear(), from.getMonth() - (from.getMonth() % count), 1),
    next: (tick) => new Date(tick.getFullYear(), tick.getMonth() + count, 1),
    format: monthName,
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

export interface Tick {
  at: Date
  label: string
}

/** Round times within a span, at most so many. */
export function ticksOf(from: Date, to: Date, most: number): Tick[] {
  const span = to.getTime() - from.getTime()
  const step = steps.find(({ length }) => span / length <= most) ?? months(12)
  const ticks: Tick[] = []
  for (let at = step.first(from); at <= to; at = step.next(at)) {
    if (at >= from) ticks.push({ at, label: step.format.format(at) })
  }
  return ticks
}
