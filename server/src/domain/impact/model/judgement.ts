import type { Tally } from '../../signals/tally.ts'
import type { Instant } from '../../time.ts'
import type { Evidence } from './evidence.ts'
import type { Mix, SegmentFinding } from './segments.ts'
import type { StepEvidence } from './step.ts'
import { type Difference, differenceOf, minLogBayesFactor, type Verdict, verdictOf } from './verdict.ts'

/** Why a difference is not the change's: it wanders this much, began at another moment, or comes from outside of the prompt. */
export type Reason =
  | { kind: 'wander' }
  /** `lead`: how much better another moment explains the votes, as the logarithm of a factor. */
  | { kind: 'elsewhere'; at: Instant; lead: number }
  | { kind: 'audience'; key: string; mix: Mix }
  | { kind: 'shared'; prompts: number }

export interface Judgement {
  verdict: Verdict
  /** Null unless the verdict is `unexplained`. */
  reason: Reason | null
  /** The difference between both rates, with an interval that allows for wandering. Null if a side has no signals. */
  difference: Difference | null
  /** How many independent signals those of both sides are worth. */
  effectiveSignals: number
  /** The logarithm to base 10 of the Bayes factor of a step at the change. Null if a side has too few signals. */
  evidence: number | null
}

export interface Findings {
  before: Tally
  after: Tally
  /** Null if a side has too few signals for a block. */
  evidence: Evidence | null
  /** For each declared key: the evidence within its segments, and the part of the difference that the audience makes. */
  segments?: readonly SegmentFinding[]
  /** How many votes of each side are worth one voice, if voters vote more than once. */
  votesPerVoice?: { before: number; after: number }
  /** How many other prompts of the organisation moved at the same time, if most of them did. */
  sharedWith?: number
}

// Below this share of the difference, a different audience is chance, or does not matter.
const minAudienceShare = 0.25

// A step whose sign is less certain than 97.5% is no reason to call a change better or worse.
const minCertainty = 1.96

/** The verdict on a change. `better` and `worse` stay valid however often they were checked before. */
export function judge(findings: Findings): Judgement {
  const { before, after, evidence, votesPerVoice = { before: 1, after: 1 } } = findings
  const voices = { before: scaled(before, 1 / votesPerVoice.before), after: scaled(after, 1 / votesPerVoice.after) }
  const signals = countOf(before) + countOf(after)
  const effectiveSignals =
    evidence === null
      ? Math.round(countOf(voices.before) + countOf(voices.after))
      : effectiveOf(before, after, evidence)
  const share = signals === 0 ? 1 : effectiveSignals / signals
  const difference = differenceOf(scaled(before, share), scaled(after, share))
  const asIndependent = verdictOf(voices.before, voices.after)
  const result = { reason: null, difference, effectiveSignals, evidence: toLog10(evidence) }
  if (evidence === null || difference === null) return { ...result, verdict: 'too_little_data' }

  const isDifferent = asIndependent === 'better' || asIndependent === 'worse'
  const reason =
    isDifferent || isCertain(evidence)
      ? reasonAgainst(findings, evidence, difference.difference)
      : { kind: 'wander' as const }
  if (reason === null && Math.sign(evidence.mean) === Math.sign(difference.difference)) {
    return { ...result, verdict: evidence.mean > 0 ? 'better' : 'worse' }
  }
  if (isDifferent) return { ...result, verdict: 'unexplained', reason: reason ?? { kind: 'wander' } }
  const verdict = verdictOf(scaled(before, share), scaled(after, share))
  return { ...result, verdict: verdict === 'no_difference_seen' ? verdict : 'too_little_data' }
}

/** The first reason why this change does not explain the votes, or null if it does. */
function reasonAgainst(
  { segments = [], sharedWith = 0 }: Findings,
  evidence: Evidence,
  difference: number,
): Reason | null {
  for (const { key, evidence: within, mix } of segments) {
    if (mix !== null && isAudience(mix, difference) && (within === null || !isCertain(within))) {
      return { kind: 'audience', key, mix }
    }
  }
  const elsewhere = evidence.findElsewhere()
  if (elsewhere !== null && elsewhere.logBayesFactor >= Math.max(minLogBayesFactor, evidence.logBayesFactor)) {
    return { kind: 'elsewhere', at: elsewhere.start, lead: elsewhere.logBayesFactor - evidence.logBayesFactor }
  }
  if (!isCertain(evidence)) return { kind: 'wander' }
  return sharedWith > 0 ? { kind: 'shared', prompts: sharedWith } : null
}

function isAudience(mix: Mix, difference: number): boolean {
  return Math.sign(mix.difference) === Math.sign(difference) && mix.audience / mix.difference >= minAudienceShare
}

function isCertain({ logBayesFactor, mean, deviation }: StepEvidence): boolean {
  return logBayesFactor >= minLogBayesFactor && Math.abs(mean) >= minCertainty * deviation
}

// Independent signals would tell 1 / (1/before + 1/after) about the step.
function effectiveOf(before: Tally, after: Tally, { information }: StepEvidence): number {
  const [n, m] = [countOf(before), countOf(after)]
  return Math.round((n + m) * Math.min(1, information * (1 / n + 1 / m)))
}

function toLog10(evidence: Evidence | null): number | null {
  return evidence === null ? null : evidence.logBayesFactor / Math.LN10
}

function countOf({ positive, negative }: Tally): number {
  return positive + negative
}

function scaled({ positive, negative }: Tally, share: number): Tally {
  return { positive: positive * share, negative: negative * share }
}
