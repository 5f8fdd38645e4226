import { percent } from '../impact/model/explanation.ts'
import type { ArmFindings, Trial } from './trial.ts'

/** One sentence or two on what a trial found. */
export function explainTrial({ commitSha, state, verdict, mismatch, findings }: Trial): string {
  const trial = `A randomised trial of ${commitSha.slice(0, 7)}`
  if (mismatch) return `${trial} could not be judged, because units or voters did not come in the promised share.`
  if (verdict === null) return state === 'ended' ? `${trial} ended without a verdict.` : `${trial} has no verdict yet.`
  const figures = findings === null ? '' : `: ${ratesOf(findings.arms.candidate, findings.arms.control)}`
  const range =
    findings?.interval == null
      ? ''
      : `, a difference of ${pointsOf(findings.interval[0])} to ${pointsOf(findings.interval[1])} points`
  return `${trial} found it ${verdict}${figures}${range}. That is stronger evidence than before and after.`
}

function pointsOf(difference: number): string {
  const value = Math.round(100 * difference)
  return value < 0 ? `−${-value}` : `+${value}`
}

function ratesOf(candidate: ArmFindings, control: ArmFindings): string {
  const rate = ({ voters, positive }: ArmFindings) => percent(voters === 0 ? 0 : positive / voters)
  return `${rate(candidate)} of its voters were positive, ${rate(control)} of those with the live version`
}
