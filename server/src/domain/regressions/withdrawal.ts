import type { JudgedChange } from '../impact/judged-changes.ts'
import { rateOf } from '../impact/model/verdict.ts'
import type { RegressionFigures } from './regression.ts'

/** Said of a change that cannot be judged any more. */
export const changeIsGone =
  'This change is no longer part of the history of the prompt, or there is no change before it, so there is nothing to compare.'

// Another moment explains the votes three times better. Without a lead, most verdicts that are taken back return with the next votes
// (testing/withdrawal-simulation.ts).
const minLead = Math.log(3)
// Half a point.
const sameRate = 0.005

/**
 * Why the verdict that opened a regression has to be taken back: an explanation of what speaks for another cause. Null as long as
 * nothing does. Evidence that falls below what a verdict needs is no reason, because it may rise again with the next votes.
 */
export function findWithdrawal(judged: JudgedChange, figures: RegressionFigures): string | null {
  return isAgainst(judged, figures) ? judged.explanation : null
}

function isAgainst(judged: JudgedChange, figures: RegressionFigures): boolean {
  const { verdict, reason, evidence } = judged
  if (verdict === 'worse') return false
  if (verdict === 'better' || reason?.kind === 'shared' || reason?.kind === 'audience') return true
  if (reason?.kind === 'model' && reason.together) return true
  if (reason?.kind === 'elsewhere' || reason?.kind === 'model') return reason.lead >= minLead
  // Votes were deleted, or count for another change now.
  if (evidence === null) return true
  return evidence < 0 && !hasSameRates(judged, figures)
}

/** When retention deletes single votes, the evidence gets weaker although nothing else is known about the change. The rates stay. */
function hasSameRates({ before, after }: JudgedChange, { rateBefore, rateAfter }: RegressionFigures): boolean {
  const isSame = (rate: number | null, known: number) => rate !== null && Math.abs(rate - known) < sameRate
  return isSame(rateOf(before), rateBefore) && isSame(rateOf(after), rateAfter)
}
