import type { Instant } from '../../time.ts'
import type { Evidence } from './evidence.ts'
import type { Mix, SegmentFinding } from './segments.ts'
import type { StepEvidence } from './step.ts'
import { minLogBayesFactor } from './verdict.ts'

/** Why a difference is not the change's: it drifts this much, began at another moment, or comes from outside of the prompt. */
export type Reason =
  | { kind: 'drift' }
  /** `lead`: how much better another moment explains the votes, as the logarithm of a factor. */
  | { kind: 'elsewhere'; at: Instant; lead: number }
  | { kind: 'audience'; key: string; mix: Mix }
  | { kind: 'shared'; prompts: number }

/** Other explanations of a difference. */
export interface Circumstances {
  /** For each declared key: the evidence within its segments, and the part of the difference that the audience makes. */
  segments?: readonly SegmentFinding[]
  /** How many other prompts of the organisation moved at the same time, if most of them did. */
  sharedWith?: number
}

// Below this share of the difference, a different audience is chance, or does not matter.
const minAudienceShare = 0.25

// A step whose sign is less certain than 97.5% is no reason to call a change better or worse.
const minCertainty = 1.96

/** The first reason why this change does not explain the votes, or null if it does. With one, a difference is unexplained. */
export function reasonAgainst(
  { segments = [], sharedWith = 0 }: Circumstances,
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
  if (!isCertain(evidence)) return { kind: 'drift' }
  return sharedWith > 0 ? { kind: 'shared', prompts: sharedWith } : null
}

function isAudience(mix: Mix, difference: number): boolean {
  return Math.sign(mix.difference) === Math.sign(difference) && mix.audience / mix.difference >= minAudienceShare
}

export function isCertain({ logBayesFactor, mean, deviation }: StepEvidence): boolean {
  return logBayesFactor >= minLogBayesFactor && Math.abs(mean) >= minCertainty * deviation
}
