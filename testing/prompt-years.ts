import { day, hour } from '../server/src/domain/time.ts'
import type { Random } from './random.ts'
import { normal, readStatements, type Vote } from './votes.ts'

// Sources of the votes on a prompt over months, to see how often people would be told about a regression.

export const hoursPerDay = 24
export const hoursPerYear = 365 * hoursPerDay

/** The votes of a prompt in the order of time. Those of hour h are `values` from `offsets[h]` to `offsets[h + 1]`; 1 is positive. */
export interface Votes {
  offsets: Uint32Array
  values: Uint8Array
}

/** Draws the votes of some hours with about this many a day. `loss` is how much lower the rate is in an hour than without changes. */
export type VoteSource = (random: Random, hours: number, perDay: number, loss?: (hour: number) => number) => Votes

/** What the rate does by itself, in hours since the moment at which it is 85%. */
type Surroundings = (random: Random, hours: number, anchor: number) => Float64Array

/** Votes whose rate is 85% in the hour `anchor`, the first by default, and moves as each of the surroundings says. */
export function independent(parts: Surroundings[] = [], anchorAt: (hours: number) => number = () => 0): VoteSource {
  return (random, hours, perDay, loss = () => 0) => {
    const anchor = anchorAt(hours)
    const moves = parts.map((part) => part(random, hours, anchor))
    const rates = Float64Array.from({ length: hours }, (_, h) => {
      const rate = moves.reduce((sum, move) => sum + (move[h] as number), 0.85)
      return Math.max(0.02, Math.min(0.985, rate) - loss(h))
    })
    return draw(random, hours, perDay, (h) => rates[h] as number)
  }
}

/** A random walk by this many points a day. It turns around before the rate leaves the range from 40% to 98%. */
export function drift(points: number): Surroundings {
  return (random, hours, anchor) => {
    const moves = new Float64Array(hours)
    const deviation = points / 100 / Math.sqrt(hoursPerDay)
    const step = (from: number) => {
      const to = from + deviation * normal(random)
      return to > 0.13 ? 0.26 - to : to < -0.45 ? -0.9 - to : to
    }
    for (let h = anchor + 1; h < hours; h++) moves[h] = step(moves[h - 1] as number)
    for (let h = anchor - 1; h >= 0; h--) moves[h] = step(moves[h + 1] as number)
    return moves
  }
}

/** A rate that follows the days of the week, or another period in days. */
export function season(points: number, days = 7): Surroundings {
  return (random, hours) => {
    const phase = random()
    return Float64Array.from(
      { length: hours },
      (_, h) => (points / 100) * Math.sin(2 * Math.PI * (h / hoursPerDay / days + phase)),
    )
  }
}

/** Each voter casts several votes in a row, which correlate with 0.3: some are the voter's opinion, the others are not. */
export function unnamedVoters(votesEach: number): VoteSource {
  return (random, hours, perDay, loss = () => 0) => {
    let i = 0
    let opinion = 1
    const share = Math.sqrt(0.3)
    return draw(random, hours, perDay, (h) => {
      const rate = 0.85 - loss(h)
      if (i++ % votesEach === 0) opinion = random() < rate ? 1 : 0
      return random() < share ? opinion : rate
    })
  }
}

const statements = readStatements().filter(({ votes }) => votes.length >= 400)

/**
 * The votes of one real statement, forwards and backwards in turn, so that the rate does not jump where they meet. Time is
 * stretched to the wanted number of votes a day: quiet times and bursts stay.
 */
export function realVotes(): VoteSource {
  return (random, hours, perDay) => {
    const { votes } = statements[Math.floor(random() * statements.length)] as { votes: Vote[] }
    const span = (votes.length / perDay) * day
    const first = (votes[0] as Vote).at
    const scale = span / ((votes.at(-1) as Vote).at - first + 1)
    const there = votes.map(({ at, isPositive }) => ({ at: (at - first) * scale, isPositive }))
    const back = there.toReversed().map(({ at, isPositive }) => ({ at: span - at, isPositive }))
    const values: number[] = []
    const offsets = new Uint32Array(hours + 1)
    let current = 0
    for (let turn = Math.floor(random() * 2), start = 0; current < hours; turn++, start += span) {
      for (const { at, isPositive } of turn % 2 === 0 ? there : back) {
        const h = Math.floor((start + at) / hour)
        while (current < h && current < hours) offsets[++current] = values.length
        if (h >= hours) break
        values.push(isPositive ? 1 : 0)
      }
    }
    return { offsets, values: Uint8Array.from(values) }
  }
}

/** Votes arrive at random, equally often at all hours. */
function draw(random: Random, hours: number, perDay: number, rateAt: (hour: number) => number): Votes {
  const gap = hoursPerDay / perDay
  const values = new Uint8Array(Math.ceil(1.5 * (hours / gap) + 100))
  const offsets = new Uint32Array(hours + 1)
  const wait = () => -gap * Math.log(1 - random())
  let count = 0
  let next = wait()
  for (let h = 0; h < hours; h++) {
    while (next < h + 1) {
      values[count++] = random() < rateAt(h) ? 1 : 0
      next += wait()
    }
    offsets[h + 1] = count
  }
  return { offsets, values: values.slice(0, count) }
}
