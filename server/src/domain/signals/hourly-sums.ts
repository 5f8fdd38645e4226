import type { Instant } from '../time.ts'

/** Hourly sums in the order of time. The three arrays have the same length. */
export interface HourlySums {
  start: Instant[]
  positive: number[]
  negative: number[]
}

export const noSums: Readonly<HourlySums> = { start: [], positive: [], negative: [] }
