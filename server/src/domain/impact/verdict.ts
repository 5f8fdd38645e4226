import type { Tally } from '../signals/tally.ts'
import { logBeta } from './beta.ts'

type Bounds = [low: number, high: number]

export interface Difference {
  /** The rate after less the rate before. */
  difference: number
  interval: Bounds
}

export const verdicts = ['better', 'worse', 'no_difference_seen', 'too_little_data'] as const

export type Verdict = (typeof verdicts)[number]

// 95 % of a normal distribution lie within so many standard deviations.
const z = 1.959963984540054

// Jeffreys' prior: it asks for the same strength of evidence at every rate, where a uniform one asks for less at 50 % than at 95 %.
const prior = 0.5

// Ville's inequality: without an effect the factor ever reaches 20 with a probability of at most 1/20, on average over the prior,
// however often one looks and whenever the change was made. What it is at each rate is in docs/impact.md.
const enough = Math.log(20)

// A handful of signals can come from one person in a bad mood. Waiting for more also halves the wrong verdicts (3.3 to 1.4 % at 50 %,
// looking at every signal), and a change that matters is found soon after.
const fewest = 20

// A difference that anyone would want to know of: as long as the interval reaches beyond it, we cannot say that we saw none.
const notable = 0.1

/** The part of the signals that is positive; null where there are none. */
export function rateOf({ positive, negative }: Tally): number | null {
  const total = positive + negative
  return total === 0 ? null : positive / total
}

/** Wilson's 95 % interval of a rate: unlike the usual one it is right for few signals and near 0 and 1. */
export function wilsonInterval(tally: Tally): Bounds | null {
  const rate = rateOf(tally)
  if (rate === null) return null
  const { positive, negative } = tally
  const total = positive + negative
  const middle = (positive + (z * z) / 2) / (total + z * z)
  const reach = (z / (total + z * z)) * Math.sqrt((positive * negative) / total + (z * z) / 4)
  // Rounding would otherwise leave 0 and 1 just outside.
  return [positive === 0 ? 0 : middle - reach, negative === 0 ? 1 : middle + reach]
}

/** The difference of two rates with Newcombe's 95 % interval, made of Wilson's two; null where a side has no signals. */
export function differenceOf(before: Tally, after: Tally): Difference | null {
  const from = rateOf(before)
  const to = rateOf(after)
  const fromInterval = wilsonInterval(before)
  const toInterval = wilsonInterval(after)
  if (from === null || to === null || fromInterval === null || toInterval === null) return null
  const difference = to - from
  const down = Math.sqrt((to - toInterval[0]) ** 2 + (fromInterval[1] - from) ** 2)
  const up = Math.sqrt((toInterval[1] - to) ** 2 + (from - fromInterval[0]) ** 2)
  return { difference, interval: [Math.max(-1, difference - down), Math.min(1, difference + up)] }
}

/**
 * The logarithm of the Bayes factor: how many times as likely the signals are if each side has a rate of its own than if both
 * have the same. It depends on nothing but the counts, so there is no record of looks to keep.
 */
export function logBayesFactor(before: Tally, after: Tally): number {
  const apart = logLikelihood(before.positive, before.negative) + logLikelihood(after.positive, after.negative)
  return apart - logLikelihood(before.positive + after.positive, before.negative + after.negative)
}

const logWeight = logBeta(prior, prior)

function logLikelihood(positive: number, negative: number): number {
  return logBeta(prior + positive, prior + negative) - logWeight
}

/** What can be said of a change to someone who may have looked any number of times before. */
export function verdictOf(before: Tally, after: Tally): Verdict {
  const seen = differenceOf(before, after)
  if (seen === null || isSmall(before) || isSmall(after)) return 'too_little_data'
  const [low, high] = seen.interval
  // No factor is large while the interval holds 0, so most need not be computed, and nobody is shown two answers at odds.
  if ((low > 0 || high < 0) && logBayesFactor(before, after) >= enough) return low > 0 ? 'better' : 'worse'
  return low < -notable || high > notable ? 'too_little_data' : 'no_difference_seen'
}

function isSmall({ positive, negative }: Tally): boolean {
  return positive + negative < fewest
}
