import type { Instant } from '../time.ts'

/** The number of signals of each value in a time span. */
export interface Tally {
  positive: number
  negative: number
}

export const emptyTally: Readonly<Tally> = { positive: 0, negative: 0 }

export function countOf({ positive, negative }: Tally): number {
  return positive + negative
}

export function totalOf(tallies: readonly Tally[]): Tally {
  let [positive, negative] = [0, 0]
  for (const tally of tallies) {
    positive += tally.positive
    negative += tally.negative
  }
  return { positive, negative }
}

export function scaled({ positive, negative }: Tally, by: number): Tally {
  return { positive: positive * by, negative: negative * by }
}

/** Hourly sums in the order of time. The three arrays have the same length. */
export interface HourlySums {
  start: Instant[]
  positive: number[]
  negative: number[]
}

export const noSums: Readonly<HourlySums> = { start: [], positive: [], negative: [] }
