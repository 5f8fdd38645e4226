import type { Instant } from '../time.ts'
import { type Blocks, rateAt } from './blocks.ts'
import { bestMoment, evidenceOfAnyMoment, evidenceOfMoments } from './moments.ts'
import { minLogBayesFactor } from './verdict.ts'
import { defaultWander, type Wander } from './wander.ts'

/** A moment at which the rate moved more than wandering explains. */
export interface Shift {
  at: Instant
  /** The rate moved at some time in this range. */
  between: [Instant, Instant]
  rateBefore: number
  rateAfter: number
  logBayesFactor: number
}

export type Cause = { change: number } | { sharedWith: number } | { unexplained: true }

const maxShifts = 16

// Moments that explain the votes at least 1/20 as well as the best one are possible too.
const possible = minLogBayesFactor

/**
 * The moments at which the rate moved, in order. A step somewhere among the blocks has to explain them 20 times better than
 * wandering alone, averaged over all moments, so that more moments do not mean more false shifts. Then each side is searched.
 */
export function shiftsOf(blocks: Blocks, wander: Readonly<Wander> = defaultWander): Shift[] {
  const shifts: Shift[] = []
  const search = (from: number, until: number): void => {
    if (shifts.length >= maxShifts || until - from < 2) return
    const y = blocks.y.subarray(from, until)
    const moments = evidenceOfMoments(y, blocks.variance.subarray(from, until), wander)
    const best = bestMoment(moments)
    if (best === null || evidenceOfAnyMoment(moments) < minLogBayesFactor) return
    let [first, last] = [best, best]
    const least = (moments[best] as number) - possible
    while (first > 1 && (moments[first - 1] as number) >= least) first--
    while (last < moments.length - 1 && (moments[last + 1] as number) >= least) last++
    shifts.push({
      at: blocks.start[from + best] as number,
      between: [blocks.start[from + first - 1] as number, blocks.start[from + last] as number],
      rateBefore: rateAt(average(y, blocks.variance.subarray(from, until), 0, best)),
      rateAfter: rateAt(average(y, blocks.variance.subarray(from, until), best, y.length)),
      logBayesFactor: moments[best] as number,
    })
    search(from, from + best)
    search(from + best, until)
  }
  search(0, blocks.count)
  return shifts.sort((a, b) => a.at - b.at)
}

/** How many other prompts of the organisation moved at the same time as a shift, and how many could have. */
export interface Others {
  moved: number
  all: number
}

/** The cause of a shift: a change within its range, else other prompts that moved at the same time, else none. */
export function causeOf(shift: Shift, changes: readonly Instant[], { moved, all }: Others): Cause {
  const within = (at: Instant) => at >= shift.between[0] && at <= shift.between[1]
  // One other prompt may move by chance. If most of them move, the cause lies outside of this prompt.
  if (moved >= 2 && 2 * moved >= all) return { sharedWith: moved }
  const nearest = [...changes.keys()]
    .filter((i) => within(changes[i] as number))
    .sort((a, b) => Math.abs((changes[a] as number) - shift.at) - Math.abs((changes[b] as number) - shift.at))[0]
  if (nearest !== undefined) return { change: nearest }
  return moved >= 2 ? { sharedWith: moved } : { unexplained: true }
}

function average(y: Float64Array, variance: Float64Array, from: number, until: number): number {
  let sum = 0
  let weight = 0
  for (let t = from; t < until; t++) {
    sum += (y[t] as number) / (variance[t] as number)
    weight += 1 / (variance[t] as number)
  }
  return sum / weight
}
