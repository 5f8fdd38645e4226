import { countOf, scaled, type Tally } from '../../signals/tally.ts'
import type { Evidence } from './evidence.ts'
import type { StepEvidence } from './step.ts'
import { type Circumstances, isCertain, type Reason, reasonAgainst } from './unexplained.ts'
import { type Difference, differenceOf, type Verdict, verdictOf } from './verdict.ts'

export interface Judgement {
  verdict: Verdict
  /** Null unless the verdict is `unexplained`. */
  reason: Reason | null
  /** The difference between both rates, with an interval that allows for drift. Null if a side has no signals. */
  difference: Difference | null
  /** How many independent signals those of both sides are worth. */
  effectiveSignals: number
  /** The logarithm to base 10 of the Bayes factor of a step at the change. Null if a side has too few signals. */
  evidence: number | null
}

export interface Findings extends Circumstances {
  before: Tally
  after: Tally
  /** Null if a side has too few signals for a block. */
  evidence: Evidence | null
  /** How many votes before and after are worth an independent one, if voters vote more than once. */
  designEffect?: { before: number; after: number }
}

/** The verdict on a change. `better` and `worse` stay valid however often they were checked before. */
export function judge(findings: Findings): Judgement {
  const { before, after, evidence, designEffect = { before: 1, after: 1 } } = findings
  const effective = { before: scaled(before, 1 / designEffect.before), after: scaled(after, 1 / designEffect.after) }
  const signals = countOf(before) + countOf(after)
  const effectiveSignals =
    evidence === null
      ? Math.round(countOf(effective.before) + countOf(effective.after))
      : effectiveOf(before, after, evidence)
  const share = signals === 0 ? 1 : effectiveSignals / signals
  const difference = differenceOf(scaled(before, share), scaled(after, share))
  const asIndependent = verdictOf(effective.before, effective.after)
  const result = { reason: null, difference, effectiveSignals, evidence: toLog10(evidence) }
  if (evidence === null || difference === null) return { ...result, verdict: 'too_little_data' }

  const isDifferent = asIndependent === 'better' || asIndependent === 'worse'
  const reason =
    isDifferent || isCertain(evidence)
      ? reasonAgainst(findings, evidence, difference.difference)
      : { kind: 'drift' as const }
  if (reason === null && Math.sign(evidence.mean) === Math.sign(difference.difference)) {
    return { ...result, verdict: evidence.mean > 0 ? 'better' : 'worse' }
  }
  if (isDifferent) return { ...result, verdict: 'unexplained', reason: reason ?? { kind: 'drift' } }
  const verdict = verdictOf(scaled(before, share), scaled(after, share))
  return { ...result, verdict: verdict === 'no_difference_seen' ? verdict : 'too_little_data' }
}

// Independent signals would tell 1 / (1/before + 1/after) about the step.
function effectiveOf(before: Tally, after: Tally, { information }: StepEvidence): number {
  const [n, m] = [countOf(before), countOf(after)]
  return Math.round((n + m) * Math.min(1, information * (1 / n + 1 / m)))
}

function toLog10(evidence: Evidence | null): number | null {
  return evidence === null ? null : evidence.logBayesFactor / Math.LN10
}
