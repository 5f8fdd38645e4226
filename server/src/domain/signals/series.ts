import type { VersionText } from './version.ts'

/** Hourly sums in the order of time, as triples in one array: the start of the hour, positive and negative signals. */
export type HourlySums = number[]

/** All hourly sums of a prompt. */
export interface Series {
  hours: HourlySums
  /** Those of the signals with a version, which are part of `hours` too. */
  versions: { version: VersionText; hours: HourlySums }[]
  /** Earlier hours are left out, because there are too many. */
  from: number
}

/** How many hourly sums a series has at most, with and without versions each: those of five years, or of many versions per hour. */
export const maxSeriesHours = 50_000
