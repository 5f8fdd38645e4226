import type { ModelChange } from '../../telemetry/model-changes.ts'
import { hour, hourStart, type Instant } from '../../time.ts'
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
  /** `together`: the model changed in the same hour, so nothing tells the two apart. `lead` as above. */
  | { kind: 'model'; change: ModelChange; together: boolean; lead: number }

/** Other explanations of a difference. */
export interface Circumstances {
  /** For each declared key: the evidence within its segments, and the part of the difference that the audience makes. */
  segments?: readonly SegmentFinding[]
  /** How many other prompts of the organisation moved at the same time, if most of them did. */
  sharedWith?: number
  /** Changes of the model while the votes came in. */
  models?: readonly ModelChange[]
  /** When the change went live. */
  liveFrom?: Instant
}

// Below this share of the difference, a different audience is chance, or does not matter.
const minAudienceShare = 0.25

// A step whose sign is less certain than 97.5% is no reason to call a change better or worse.
const minCertainty = 1.96

/** The first reason why this change does not explain the votes, or null if it does. With one, a difference is unexplained. */
export function reasonAgainst(
  { segments = [], sharedWith = 0, models = [], liveFrom = 0 }: Circumstances,
  evidence: Evidence,
  difference: number,
): Reason | null {
  for (const { key, evidence: within, mix, models: switched = [] } of segments) {
    // Another model for everyone is no other audience: what tells is when the rate moved.
    if (switched.length > 0) continue
    if (mix !== null && isAudience(mix, difference) && (within === null || !isCertain(within))) {
      return { kind: 'audience', key, mix }
    }
  }
  for (const change of models) {
    const together = isSameHour(change.at, liveFrom)
    const lead = together ? 0 : leadOf(change, evidence)
    // docs/impact.md has both error rates.
    if (lead >= 0) return { kind: 'model', change, together, lead }
  }
  const elsewhere = evidence.findElsewhere()
  if (elsewhere !== null && elsewhere.logBayesFactor >= Math.max(minLogBayesFactor, evidence.logBayesFactor)) {
    return { kind: 'elsewhere', at: elsewhere.start, lead: elsewhere.logBayesFactor - evidence.logBayesFactor }
  }
  if (!isCertain(evidence)) return { kind: 'drift' }
  return sharedWith > 0 ? { kind: 'shared', prompts: sharedWith } : null
}

/** Calls are counted by the hour, and votes come some time after them. */
function isSameHour(at: Instant, liveFrom: Instant): boolean {
  return Math.abs(at - hourStart(liveFrom)) <= hour
}

/** How much better the change of the model explains the votes, if it explains them at all. */
function leadOf({ at }: ModelChange, evidence: Evidence): number {
  const compared = evidence.compareWith(at)
  const isExplained = compared !== null && compared.other >= minLogBayesFactor
  return isExplained ? compared.other - compared.change : Number.NEGATIVE_INFINITY
}

function isAudience(mix: Mix, difference: number): boolean {
  return Math.sign(mix.difference) === Math.sign(difference) && mix.audience / mix.difference >= minAudienceShare
}

export function isCertain({ logBayesFactor, mean, deviation }: StepEvidence): boolean {
  return logBayesFactor >= minLogBayesFactor && Math.abs(mean) >= minCertainty * deviation
}
