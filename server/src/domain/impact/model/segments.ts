import { countOf, type Tally, totalOf } from '../../signals/tally.ts'
import type { ModelChange } from '../../telemetry/model-changes.ts'
import { cutBlocks, type Sum } from './blocks.ts'
import { type Drift, defaultDrift, gridSize, posteriorOf } from './drift.ts'
import { allowStep, logLikelihoodOf, observe, startLevels } from './local-level.ts'
import { observeStep, otherStepVariance, type Step, type StepEvidence, startStep, weigh } from './step.ts'

/** The votes of one segment, such as one model or locale, per window. The change to judge starts the last window. */
type SegmentSums = readonly (readonly Sum[])[]

/**
 * The evidence that the change made the same step in every segment, each with a level of its own. A change in how many votes come
 * from each segment has no part in it. Null if no segment has a complete block on both sides.
 */
export function evidenceAcrossSegments(
  segments: readonly SegmentSums[],
  drift: Readonly<Drift> = defaultDrift,
): StepEvidence | null {
  const logLikelihood = new Float64Array(gridSize)
  const information = new Float64Array(gridSize)
  const score = new Float64Array(gridSize)
  let judged = 0
  for (const windows of segments) {
    const step = stepOf(windows)
    if (step === null) continue
    judged++
    const ofSegment = logLikelihoodOf(step.levels)
    for (let g = 0; g < gridSize; g++) {
      logLikelihood[g] = (logLikelihood[g] as number) + (ofSegment[g] as number)
      information[g] = (information[g] as number) + (step.information[g] as number)
      score[g] = (score[g] as number) + (step.score[g] as number)
    }
  }
  return judged === 0 ? null : weigh(posteriorOf(drift, logLikelihood), information, score)
}

function stepOf(windows: SegmentSums): Step | null {
  const blocks = cutBlocks(windows)
  const levels = startLevels()
  const last = windows.length - 1
  let step: Step | null = null
  let current = -1
  for (let t = 0; t < blocks.count; t++) {
    const window = blocks.window[t] as number
    const y = blocks.y[t] as number
    const variance = blocks.variance[t] as number
    if (window === last && step === null) {
      if (current !== last - 1) return null
      step = startStep(levels)
    }
    if (step !== null) {
      if (window >= last - 1) observeStep(step, y, variance, window === last)
      continue
    }
    if (window < current) continue
    if (window > current && current >= 0) allowStep(levels, otherStepVariance)
    current = window
    observe(levels, y, variance)
  }
  return step
}

/** How a difference between two pooled rates comes about. Both parts add up to it. */
export interface Mix {
  difference: number
  /** The part that comes from a different share of each segment. */
  audience: number
  /** The part that comes from different rates within segments. */
  within: number
}

/** Splits the pooled difference. Segments without votes on one side keep the rate of the other. Null without votes on a side. */
export function mixOf(segments: readonly { before: Tally; after: Tally }[]): Mix | null {
  const before = countOf(totalOf(segments.map((segment) => segment.before)))
  const after = countOf(totalOf(segments.map((segment) => segment.after)))
  if (before === 0 || after === 0) return null
  let audience = 0
  let within = 0
  for (const segment of segments) {
    const [n, m] = [countOf(segment.before), countOf(segment.after)]
    if (n + m === 0) continue
    const from = n > 0 ? segment.before.positive / n : segment.after.positive / m
    const to = m > 0 ? segment.after.positive / m : from
    const [share, shareAfter] = [n / before, m / after]
    audience += ((shareAfter - share) * (from + to)) / 2
    within += ((share + shareAfter) / 2) * (to - from)
  }
  return { difference: audience + within, audience, within }
}

/** What the values of one key of the metadata say about a change. */
export interface SegmentFinding {
  key: string
  /** The evidence for the same step in every segment. */
  evidence: StepEvidence | null
  /** How much of the difference comes from a different audience. */
  mix: Mix | null
  /** Of a key that names the model: when most votes began to name another one. */
  models?: readonly ModelChange[]
}
