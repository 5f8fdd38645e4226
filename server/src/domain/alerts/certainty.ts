import { day, minute } from '../time.ts'
import type { AlertRules } from './alert.ts'

/** An open regression whose verdict is currently `worse`. */
export interface RegressionCertainty {
  /** The logarithm to base 10 of the Bayes factor of the step. Null if it was never computed. */
  evidence: number | null
  difference: number
  interval: readonly [low: number, high: number]
  /** Signals on the change. */
  signalsAfter: number
  /** How long the regression has been open. */
  heldForMs: number
  /** How long ago the change went live. Null if unknown. */
  liveForMs: number | null
}

/** How long a regression has to hold before anyone is told. Each alert may have its own. */
type Hold = Pick<AlertRules, 'holdMs' | 'minSignals'>

export const defaultHold: Hold = { holdMs: 15 * minute, minSignals: 50 }

// A verdict needs a factor of 20, for a reader who looks at one change. Over a year of changes on a prompt whose votes drift, one in
// ten such prompts would have a regression that is none. docs/decisions/0045-when-people-are-told.md has how these were chosen.
const surelyCertain = Math.log10(2_000)
const certain = Math.log10(30)

// Wrong verdicts are large differences on the first few hundred signals, small ones, or come with weeks of drift. A factor below 2,000 is
// only believed for the rest: a fall that many signals show within days.
const signalsIfCertain = 500
const fallIfCertain = 0.06
const maxLiveForIfCertainMs = 10 * day

/** Whether a regression is certain enough to tell people who did not ask. Stricter than the verdict `worse`. */
export function isCertainEnough(
  { evidence, difference, interval, signalsAfter, heldForMs, liveForMs }: RegressionCertainty,
  { holdMs, minSignals }: Hold = defaultHold,
): boolean {
  if (evidence === null || signalsAfter < minSignals || heldForMs < holdMs) return false
  // A message that says "between -9 and +1 points" would contradict itself.
  if (interval[1] >= 0) return false
  if (evidence >= surelyCertain) return true
  if (signalsAfter < signalsIfCertain || liveForMs === null || liveForMs > maxLiveForIfCertainMs) return false
  return evidence >= certain && difference <= -fallIfCertain
}
