import type { Instant } from '../../time.ts'
import type { Blocks } from './blocks.ts'
import { type Drift, defaultDrift, gridSize } from './drift.ts'
import { allowStep, copyLevels, type Levels, logLikelihoodOf, observe, startLevels } from './local-level.ts'
import { bestMoment, evidenceOfAnyMoment, evidenceOfMoments } from './moments.ts'
import { evidenceOfStep, observeStep, otherStepVariance, type Step, type StepEvidence, startStep } from './step.ts'

/** What the votes say about one change. */
export interface Evidence extends StepEvidence {
  /** Finds the moment that explains the votes best, other than the change. Costs as much as the rest, so only on demand. */
  findElsewhere(): Elsewhere | null
  /** How well a step at this time explains the votes, beside one at the change. Null if there are no votes on both sides of it. */
  compareWith(at: Instant): ComparedMoments | null
}

/** The log Bayes factors of a step at two moments. */
interface ComparedMoments {
  change: number
  other: number
}

/** A step at any moment, and the one that explains the votes best. */
export interface Elsewhere {
  logBayesFactor: number
  start: Instant
}

/** The chain of windows up to one: how the votes drifted before, with a step of its own for each earlier change. */
interface Past {
  step: Step
  /** The log-likelihood before the window in front of the change. */
  earlier: Float64Array
}

/**
 * The evidence on the change at the start of each window, in one pass over the blocks. Null for the first window and for windows
 * without a complete block on both sides. Only `wanted` windows are judged, all by default. `past` is what came before the blocks.
 */
export function evidenceOfChanges(
  blocks: Blocks,
  windows: number,
  drift: Readonly<Drift> = defaultDrift,
  isWanted: (window: number) => boolean = () => true,
  past: Levels | null = null,
): (Evidence | null)[] {
  const { steps } = followLevels(blocks, windows, isWanted, past)
  return steps.map((past, window) => {
    if (past === null) return null
    const moments = () => momentsOf(blocks, window, past.earlier, drift)
    return {
      ...evidenceOfStep(past.step, drift),
      findElsewhere: () => elsewhereOf(moments()),
      compareWith: (at) => comparedMoments(moments(), at),
    }
  })
}

/** The log-likelihood of all blocks at each point of the grid: what one prompt tells about drift. */
export function likelihoodOfDrift(blocks: Blocks, windows: number): Float64Array {
  return followLevels(blocks, windows, () => false, null).logLikelihood
}

/** How the votes drifted before the first block of each wanted window. Null if none came before it, or it is not wanted. */
export function levelsBefore(
  blocks: Blocks,
  windows: number,
  isWanted: (window: number) => boolean,
): (Levels | null)[] {
  const found = new Array<Levels | null>(windows).fill(null)
  const levels = startLevels()
  let current = -1
  let isEmpty = true
  const pass = (until: number): void => {
    for (let window = current + 1; window <= until; window++) {
      if (!isEmpty && isWanted(window)) found[window] = copyLevels(levels)
    }
    current = until
  }
  for (let t = 0; t < blocks.count; t++) {
    const window = blocks.window[t] as number
    if (window > current) {
      pass(window)
      if (!isEmpty) allowStep(levels, otherStepVariance)
    }
    if (window < current) continue
    observe(levels, blocks.y[t] as number, blocks.variance[t] as number)
    isEmpty = false
  }
  pass(windows - 1)
  return found
}

function followLevels(
  blocks: Blocks,
  windows: number,
  isWanted: (window: number) => boolean,
  past: Levels | null,
): { steps: (Past | null)[]; logLikelihood: Float64Array } {
  const steps = new Array<Past | null>(windows).fill(null)
  const levels = past === null ? startLevels() : copyLevels(past)
  let current = -1
  let step: Step | null = null
  let earlier: Float64Array = new Float64Array(gridSize)
  for (let t = 0; t < blocks.count; t++) {
    const window = blocks.window[t] as number
    const y = blocks.y[t] as number
    const variance = blocks.variance[t] as number
    if (window > current) {
      step = null
      // Without votes on the window in front of it, there is nothing to compare a change with.
      if (window === current + 1 && current >= 0 && isWanted(window)) {
        step = startStep(levels)
        steps[window] = { step, earlier }
      }
      if (isWanted(window + 1)) earlier = logLikelihoodOf(levels)
      if (current >= 0 || past !== null) allowStep(levels, otherStepVariance)
      current = window
    }
    if (step !== null && window >= current - 1) observeStep(step, y, variance, window === current)
    // Late votes on an earlier version say nothing about the level after the change.
    if (window === current) observe(levels, y, variance)
  }
  return { steps, logLikelihood: logLikelihoodOf(levels) }
}

/** The evidence of a step in front of each block of a window and of the one before it. */
interface Moments {
  moments: Float64Array
  start: Instant[]
  /** The place of the change. */
  change: number
}

function momentsOf(blocks: Blocks, window: number, earlier: Float64Array, drift: Readonly<Drift>): Moments {
  const y: number[] = []
  const variance: number[] = []
  const start: Instant[] = []
  let change = -1
  for (let t = 0; t < blocks.count; t++) {
    const of = blocks.window[t] as number
    if (of !== window && of !== window - 1) continue
    if (of === window && change < 0) change = y.length
    y.push(blocks.y[t] as number)
    variance.push(blocks.variance[t] as number)
    start.push(blocks.start[t] as number)
  }
  const expected = drift.map((log, g) => log + (earlier[g] as number))
  return { moments: evidenceOfMoments(y, variance, expected), start, change }
}

function elsewhereOf({ moments, start, change }: Moments): Elsewhere | null {
  const best = bestMoment(moments, change)
  return best === null ? null : { logBayesFactor: evidenceOfAnyMoment(moments), start: start[best] as number }
}

/** A block may begin before the time and end after it, so the moments in front of it and behind it count. */
function comparedMoments({ moments, start, change }: Moments, at: Instant): ComparedMoments | null {
  const next = start.findIndex((each) => each >= at)
  const near = [next - 1, next].filter((t) => t > 0 && t < moments.length && t !== change)
  if (next < 0 || near.length === 0) return null
  return { change: moments[change] as number, other: Math.max(...near.map((t) => moments[t] as number)) }
}
