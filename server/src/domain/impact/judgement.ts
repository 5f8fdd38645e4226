import type { Tally } from '../signals/tally.ts'
import type { Instant } from '../time.ts'
import type { Evidence } from './evidence.ts'
import type { Mix } from './segments.ts'
import type { StepEvidence } from './step.ts'
import { type Difference, differenceOf, minLogBayesFactor, type Verdict, verdictOf } from './verdict.ts'

/** Why a difference is not the change's: it wanders this much, began at another moment, or comes from outside of the prompt. */
export type Reason =
  | { kind: 'wander' }
  | { kind: 'elsewhere'; at: Instant }
  | { kind: 'audience'; mix: Mix }
  | { kind: 'shared'; prompts: number }

export interface Judgement {
  verdict: Verdict
  /** Null unless the verdict is `unexplained`. */
  reason: Reason | null
  /** The difference between both rates, with an interval that allows for wandering. Null if a side has no signals. */
  difference: Difference | null
  /** How many independent signals those of both sides are worth. */
  effectiveSignals: number
}

export interface Findings {
  before: Tally
  after: Tally
  /** Null if a side has too few signals for a block. */
  evidence: Evidence | null
  /** Where segments are declared: the evidence within them, and the part of the difference that the audience makes. */
  segments?: { evidence: StepEvidence | null; mix: Mix | null }
  /** How many other prompts of the organisation moved at the same time, if most of them did. */
  sharedWith?: number
}

// A step whose sign is less certain than 97.5% is no reason to call a change better or worse.
const minCertainty = 1.96

/** The verdict on a change. `better` and `worse` stay valid however often they were checked before. */
export function judge(findings: Findings): Judgement {
  const { before, after, evidence } = findings
  const signals = before.positive + before.negative + after.positive + after.negative
  const effectiveSignals = evidence === null ? signals : effectiveOf(before, after, evidence)
  const share = signals === 0 ? 1 : effectiveSignals / signals
  const difference = differenceOf(scaled(before, share), scaled(after, share))
  const asIndependent = verdictOf(before, after)
  const result = { reason: null, difference, effectiveSignals }
  if (evidence === null || difference === null) return { ...result, verdict: 'too_little_data' }

  const isDifferent = asIndependent === 'better' || asIndependent === 'worse'
  const reason = isDifferent || isCertain(evidence) ? reasonAgainst(findings, evidence) : { kind: 'wander' as const }
  if (reason === null && Math.sign(evidence.mean) === Math.sign(difference.difference)) {
    return { ...result, verdict: evidence.mean > 0 ? 'better' : 'worse' }
  }
  if (isDifferent) return { ...result, verdict: 'unexplained', reason: reason ?? { kind: 'wander' } }
  const verdict = verdictOf(scaled(before, share), scaled(after, share))
  return { ...result, verdict: verdict === 'no_difference_seen' ? verdict : 'too_little_data' }
}

/** The first reason why this change does not explain the votes, or null if it does. */
function reasonAgainst({ segments, sharedWith = 0 }: Findings, evidence: Evidence): Reason | null {
  const elsewhere = evidence.findElsewhere()
  if (elsewhere !== null && elsewhere.logBayesFactor >= Math.max(minLogBayesFactor, evidence.logBayesFactor)) {
    return { kind: 'elsewhere', at: elsewhere.start }
  }
  if (!isCertain(evidence)) return { kind: 'wander' }
  if (segments?.mix && (segments.evidence === null || !isCertain(segments.evidence))) {
    return { kind: 'audience', mix: segments.mix }
  }
  return sharedWith > 0 ? { kind: 'shared', prompts: sharedWith } : null
}

function isCertain({ logBayesFactor, mean, deviation }: StepEvidence): boolean {
  return logBayesFactor >= minLogBayesFactor && Math.abs(mean) >= minCertainty * deviation
}

// Independent signals would tell 1 / (1/before + 1/after) about the step.
function effectiveOf(before: Tally, after: Tally, { information }: StepEvidence): number {
  const n = before.positive + before.negative
  const m = after.positive + after.negative
  return Math.round((n + m) * Math.min(1, information * (1 / n + 1 / m)))
}

function scaled({ positive, negative }: Tally, share: number): Tally {
  return { positive: positive * share, negative: negative * share }
}
