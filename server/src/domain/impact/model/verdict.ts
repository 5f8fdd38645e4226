import { countOf, type Tally } from '../../signals/tally.ts'
import { logBeta } from './beta.ts'

type Bounds = [low: number, high: number]

export interface Difference {
  /** The rate after the change minus the rate before it. */
  difference: number
  interval: Bounds
}

export const verdicts = ['better', 'worse', 'unexplained', 'no_difference_seen', 'too_little_data'] as const

export type Verdict = (typeof verdicts)[number]

// 95% of a normal distribution lies within this many standard deviations.
const z = 1.959963984540054

// Jeffreys prior: it requires equally strong evidence at every rate. A uniform prior requires less at 50% than at 95%.
const prior = 0.5

// By Ville's inequality, without an effect the Bayes factor ever reaches 20 with a probability of at most 1/20, averaged over
// the prior, however often it is checked and whenever the change was made. docs/impact.md has the probability at each rate.
export const minLogBayesFactor = Math.log(20)

// A handful of signals can come from a single unhappy user. The minimum also more than halves wrong verdicts (from 3.3% to 1.4% at
// a rate of 50%, checking after every signal) and delays the detection of a real effect only slightly.
const minSignals = 20

// While the confidence interval still allows a difference this large, the verdict cannot be "no clear difference".
export const notableDifference = 0.1

/** The share of positive signals, null without signals. */
export function rateOf({ positive, negative }: Tally): number | null {
  const total = positive + negative
  return total === 0 ? null : positive / total
}

/** The Wilson 95% interval of a rate. Unlike the normal approximation, it holds for few signals and for rates near 0 and 1. */
export function wilsonInterval(tally: Tally): Bounds | null {
  const rate = rateOf(tally)
  if (rate === null) return null
  const { positive, negative } = tally
  const total = positive + negative
  const middle = (positive + (z * z) / 2) / (total + z * z)
  const reach = (z / (total + z * z)) * Math.sqrt((positive * negative) / total + (z * z) / 4)
  // Avoids rounding errors that would leave 0 or 1 just outside the interval.
  return [positive === 0 ? 0 : middle - reach, negative === 0 ? 1 : middle + reach]
}

/** The difference between two rates with Newcombe's 95% interval, built from both Wilson intervals. Null if a side has no signals. */
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
 * The log Bayes factor: how much more likely the signals are if each side has its own rate than if both share one. It depends
 * only on the counts, so we need not record how often the verdict was checked.
 */
export function logBayesFactor(before: Tally, after: Tally): number {
  const separate = logLikelihood(before.positive, before.negative) + logLikelihood(after.positive, after.negative)
  return separate - logLikelihood(before.positive + after.positive, before.negative + after.negative)
}

const logPriorBeta = logBeta(prior, prior)

function logLikelihood(positive: number, negative: number): number {
  return logBeta(prior + positive, prior + negative) - logPriorBeta
}

/** The verdict if the signals are independent of each other. It stays valid however often it was checked before. */
export function verdictOf(before: Tally, after: Tally): Exclude<Verdict, 'unexplained'> {
  const comparison = differenceOf(before, after)
  if (comparison === null || Math.min(countOf(before), countOf(after)) < minSignals) return 'too_little_data'
  const [low, high] = comparison.interval
  // The factor is never large while the interval contains 0. Checking the interval first skips most computations and keeps the
  // two results consistent.
  if ((low > 0 || high < 0) && logBayesFactor(before, after) >= minLogBayesFactor) return low > 0 ? 'better' : 'worse'
  return low < -notableDifference || high > notableDifference ? 'too_little_data' : 'no_difference_seen'
}
