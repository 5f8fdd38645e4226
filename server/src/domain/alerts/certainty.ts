import { minute } from '../time.ts'
import type { AlertRules } from './alert.ts'

/** What is known about an open regression whose verdict is `worse` at this moment. */
export interface RegressionCertainty {
  /** The logarithm to base 10 of the Bayes factor of the step. Null if it was never computed. */
  evidence: number | null
  difference: number
  interval: readonly [low: number, high: number]
  /** Signals on the change. */
  signalsAfter: number
  /** How long the regression has been open. */
  heldForMs: number
}

/** How long a regression has to hold before anyone is told. Each alert may have its own. */
export type Hold = Pick<AlertRules, 'holdMs' | 'minSignals'>

export const defaultHold: Hold = { holdMs: 15 * minute, minSignals: 50 }

// A verdict needs a factor of 20, for a reader who looks at one change. Over a year of changes, that is too loose to wake people.
const minEvidence = Math.log10(1_000)

/** Whether a regression is certain enough to tell people who did not ask. Stricter than the verdict `worse`. */
export function isCertainEnough(
  { evidence, interval, signalsAfter, heldForMs }: RegressionCertainty,
  { holdMs, minSignals }: Hold = defaultHold,
): boolean {
  if (signalsAfter < minSignals || heldForMs < holdMs) return false
  return evidence !== null && evidence >= minEvidence && interval[1] < 0
}
