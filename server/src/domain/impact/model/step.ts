import { type Drift, gridSize, levelVariances, noiseVariances, posteriorOf } from './drift.ts'
import { addError, copyLevels, type Levels, logLikelihoodOf } from './local-level.ts'

/**
 * The step that a change makes, if it makes one. The filter runs as if there was none, and beside it on the pattern of the step: 0
 * before the change, 1 after it. The likelihood of a step of any size follows from two sums over both errors, as in a regression.
 */
export interface Step {
  levels: Levels
  pattern: Float64Array
  information: Float64Array
  score: Float64Array
}

// The standard deviations of possible steps: 0.12 is 4 points from a rate of 85%, 0.25 is 10 points, 0.5 is 22.
export const stepSizes = [
  { precision: 1 / 0.12 ** 2, weight: 0.2 },
  { precision: 1 / 0.2 ** 2, weight: 0.4 },
  { precision: 1 / 0.3 ** 2, weight: 0.2 },
  { precision: 1 / 0.5 ** 2, weight: 0.2 },
]
export const widest = 1 / 0.5 ** 2

/** The variance of the step of a change that is not being judged. */
export const otherStepVariance = 0.25

export function startStep(levels: Levels): Step {
  return {
    levels: copyLevels(levels),
    pattern: new Float64Array(gridSize),
    information: new Float64Array(gridSize),
    score: new Float64Array(gridSize),
  }
}

/** `isAfter` tells whether the votes are on the version after the change. */
export function observeStep(step: Step, y: number, sampling: number, isAfter: boolean): void {
  const { levels, pattern, information, score } = step
  const { mean, variance, partial, product } = levels
  const x = isAfter ? 1 : 0
  for (let g = 0; g < gridSize; g++) {
    const predicted = (variance[g] as number) + (levelVariances[g] as number)
    const total = predicted + sampling + (noiseVariances[g] as number)
    const gain = predicted / total
    const error = y - (mean[g] as number)
    const patternError = x - (pattern[g] as number)
    addError(partial, product, g, error, total)
    information[g] = (information[g] as number) + (patternError * patternError) / total
    score[g] = (score[g] as number) + (patternError * error) / total
    mean[g] = (mean[g] as number) + gain * error
    pattern[g] = (pattern[g] as number) + gain * patternError
    variance[g] = predicted * (1 - gain)
  }
}

export interface StepEvidence {
  /** How much better a step at the change explains the votes than drift alone. */
  logBayesFactor: number
  /** The size of the step on the scale of `Blocks.y`. */
  mean: number
  deviation: number
  /** What the votes tell about the step, as the inverse of a variance. */
  information: number
}

export function evidenceOfStep({ levels, information, score }: Step, drift: Readonly<Drift>): StepEvidence {
  return weigh(posteriorOf(drift, logLikelihoodOf(levels)), information, score)
}

/** `weights` are those of the grid without a step, after all votes. */
export function weigh(weights: Float64Array, information: Float64Array, score: Float64Array): StepEvidence {
  // Terms are relative to the largest, because the factor itself may exceed what a number holds.
  let max = Number.NEGATIVE_INFINITY
  for (let g = 0; g < gridSize; g++) {
    if ((weights[g] as number) === 0) continue
    max = Math.max(max, logFactor(information[g] as number, score[g] as number, widest))
  }
  let factor = 0
  let mean = 0
  let square = 0
  let informed = 0
  for (let g = 0; g < gridSize; g++) {
    if ((weights[g] as number) === 0) continue
    const info = information[g] as number
    const u = score[g] as number
    for (const { precision, weight } of stepSizes) {
      const term = (weights[g] as number) * weight * Math.exp(logFactor(info, u, precision) - max)
      const estimate = u / (info + precision)
      factor += term
      mean += term * estimate
      square += term * (estimate * estimate + 1 / (info + precision))
      informed += term * info
    }
  }
  mean /= factor
  return {
    logBayesFactor: Math.log(factor) + max,
    mean,
    deviation: Math.sqrt(Math.max(0, square / factor - mean * mean)),
    information: informed / factor,
  }
}

function logFactor(information: number, score: number, precision: number): number {
  const sum = information + precision
  return (Math.log(precision / sum) + (score * score) / sum) / 2
}
