import type { Instant } from '../../time.ts'
import { type Blocks, rateAt } from './blocks.ts'
import { type Drift, defaultDrift } from './drift.ts'
import { bestMoment, evidenceOfAnyMoment, evidenceOfMoments } from './moments.ts'
import { minLogBayesFactor } from './verdict.ts'

/** A moment at which the rate moved more than drift explains. */
interface Shift {
  at: Instant
  /** The rate moved at some time in this range. */
  between: [Instant, Instant]
  rateBefore: number
  rateAfter: number
  logBayesFactor: number
}

export const maxShifts = 16

/**
 * The moments at which the rate moved, in order, besides the steps in front of the blocks in `known`. A step somewhere among the
 * blocks has to explain them 20 times better than drift alone, averaged over all moments, so that more moments do not mean more
 * false shifts. Then each side is searched. Without known steps, a rate that falls and comes back looks like one that drifts.
 */
export function shiftsOf(
  blocks: Blocks,
  drift: Readonly<Drift> = defaultDrift,
  known: ReadonlySet<number> = new Set(),
): Shift[] {
  const shifts: Shift[] = []
  const steps = [...known].sort((a, b) => a - b)
  const search = (from: number, until: number): void => {
    if (shifts.length >= maxShifts || until - from < 2) return
    const [y, variance] = [blocks.y.subarray(from, until), blocks.variance.subarray(from, until)]
    const moments = evidenceOfMoments(y, variance, drift, new Set(steps.map((t) => t - from)))
    const best = bestMoment(moments)
    if (best === null || evidenceOfAnyMoment(moments) < minLogBayesFactor) return
    const [first, last] = possibleMoments(moments, best)
    const at = from + best
    shifts.push({
      at: blocks.start[at] as number,
      between: [blocks.start[from + first - 1] as number, blocks.start[from + last] as number],
      rateBefore: rateOfBlocks(blocks, Math.max(from, ...steps.filter((t) => t < at)), at),
      rateAfter: rateOfBlocks(blocks, at, Math.min(until, ...steps.filter((t) => t > at))),
      logBayesFactor: moments[best] as number,
    })
    search(from, at)
    search(at, until)
  }
  search(0, blocks.count)
  return shifts.sort((a, b) => a.at - b.at)
}

/** The first and the last moment around one that explain the votes at least 1/20 as well. */
function possibleMoments(moments: Float64Array, around: number): [first: number, last: number] {
  let [first, last] = [around, around]
  const least = (moments[around] as number) - minLogBayesFactor
  while (first > 1 && (moments[first - 1] as number) >= least) first--
  while (last < moments.length - 1 && (moments[last + 1] as number) >= least) last++
  return [first, last]
}

/**
 * When the step between two windows may have happened as well: as long as a step at another moment explains their votes at least
 * 1/20 as well as one at the start of the second. Null if one of them has no blocks.
 */
export function rangeOfStep(
  blocks: Blocks,
  before: number,
  after: number,
  drift: Readonly<Drift> = defaultDrift,
): [Instant, Instant] | null {
  const both = [...blocks.window.keys()].filter((t) => blocks.window[t] === before || blocks.window[t] === after)
  const change = both.findIndex((t) => blocks.window[t] === after)
  if (change < 1) return null
  const of = (values: Float64Array) => both.map((t) => values[t] as number)
  const [first, last] = possibleMoments(evidenceOfMoments(of(blocks.y), of(blocks.variance), drift), change)
  const start = of(blocks.start)
  return [start[first - 1] as number, start[last] as number]
}

/** The changes within the range of a shift, by their places, the nearest first. */
export function changesWithin({ at, between }: Pick<Shift, 'at' | 'between'>, changes: readonly Instant[]): number[] {
  const distance = (place: number) => Math.abs((changes[place] as number) - at)
  return [...changes.keys()]
    .filter((place) => (changes[place] as number) >= between[0] && (changes[place] as number) <= between[1])
    .sort((a, b) => distance(a) - distance(b))
}

function rateOfBlocks({ y, variance }: Blocks, from: number, until: number): number {
  let sum = 0
  let weight = 0
  for (let t = from; t < until; t++) {
    sum += (y[t] as number) / (variance[t] as number)
    weight += 1 / (variance[t] as number)
  }
  return rateAt(sum / weight)
}
