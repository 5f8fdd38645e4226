import type { HourlySums } from '../../signals/tally.ts'
import { day, type Instant } from '../../time.ts'

/** How far the rate lies above its average at a time of the week, on the scale of `Blocks.y`. */
export type Season = (at: Instant) => number

const daysPerWeek = 7
const week = daysPerWeek * day

// A pattern has to repeat. Uneven weeks count as fewer.
const minWeeks = 4
// Habits change, and a single vote may be about a time long ago.
const maxWeeks = 53

// A pattern is believed as far as it exceeds what chance makes of so many weeks, this many times.
const timesChance = 2

/** The votes on one day of the week, relative to the seven days around it. */
interface Weekday {
  votes: number
  squaredVotes: number
  deviation: number
  days: { votes: number; deviation: number }[]
}

/**
 * What the votes on Mondays, Tuesdays and so on have in common, so that a weekend is not mistaken for an effect of a change, and an
 * effect need not exceed what a weekend does. Null if too few weeks are known, or no pattern shows. Uses whole weeks
 * only, so that it changes once a week and not with every vote.
 */
export function seasonOf(hours: HourlySums): Season | null {
  const weekdays = weekdaysOf(hours)
  if (weekdays.some((weekday) => weeksOf(weekday) < minWeeks)) return null
  const effects = weekdays.map(({ deviation, votes }) => deviation / votes)
  const average = sum(effects) / daysPerWeek
  const power = sum(effects.map((effect) => (effect - average) ** 2))
  const share = 1 - (timesChance * sum(weekdays.map(chanceOf))) / power
  if (!(share > 0)) return null
  const season = effects.map((effect) => share * (effect - average))
  return (at) => {
    // Between noon of one day and noon of the next, the rate moves evenly. Users live in many time zones.
    const sinceNoon = (at - day / 2) / day
    const today = Math.floor(sinceNoon)
    const part = sinceNoon - today
    return (1 - part) * of(season, today) + part * of(season, today + 1)
  }
}

function weekdaysOf({ start, positive, negative }: HourlySums): Weekday[] {
  const weekdays = Array.from(
    { length: daysPerWeek },
    (): Weekday => ({ votes: 0, squaredVotes: 0, deviation: 0, days: [] }),
  )
  const last = start.at(-1) ?? 0
  const end = (last - (last % week)) / day
  const first = Math.max(Math.floor((start[0] ?? 0) / day), end - maxWeeks * daysPerWeek)
  const count = Math.max(0, end - first)
  const [ups, votes] = [new Float64Array(count), new Float64Array(count)]
  for (let i = 0; i < start.length; i++) {
    const index = Math.floor((start[i] as number) / day) - first
    if (index >= count) break
    if (index < 0) continue
    ups[index] = (ups[index] as number) + (positive[i] as number)
    votes[index] = (votes[index] as number) + (positive[i] as number) + (negative[i] as number)
  }
  for (let i = 3; i < count - 3; i++) {
    const rate = sum(ups, i - 3, i + 4) / sum(votes, i - 3, i + 4)
    const ofDay = votes[i] as number
    if (ofDay === 0 || rate <= 0 || rate >= 1) continue
    const deviation = ((ups[i] as number) - ofDay * rate) / Math.sqrt(rate * (1 - rate))
    const weekday = of(weekdays, first + i)
    weekday.votes += ofDay
    weekday.squaredVotes += ofDay * ofDay
    weekday.deviation += deviation
    weekday.days.push({ votes: ofDay, deviation })
  }
  return weekdays
}

function weeksOf({ votes, squaredVotes }: Weekday): number {
  return squaredVotes === 0 ? 0 : votes ** 2 / squaredVotes
}

/** The variance of a weekday's effect, by how much the same weekday differs from week to week. */
function chanceOf(weekday: Weekday): number {
  const { votes, deviation, days } = weekday
  const weeks = weeksOf(weekday)
  const squares = sum(days.map((each) => (each.deviation - (each.votes * deviation) / votes) ** 2))
  return ((squares / votes ** 2) * weeks) / (weeks - 1)
}

function of<Item>(items: readonly Item[], dayNumber: number): Item {
  return items[((dayNumber % daysPerWeek) + daysPerWeek) % daysPerWeek] as Item
}

function sum(values: ArrayLike<number>, from = 0, until = values.length): number {
  let total = 0
  for (let i = from; i < until; i++) total += values[i] as number
  return total
}
