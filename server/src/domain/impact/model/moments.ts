import { type Drift, gridSize, levelVariances, noiseVariances, posteriorOf } from './drift.ts'
import { addError, logLikelihoodOf } from './local-level.ts'
import { otherStepVariance, stepSizes, widest } from './step.ts'

// Terms below e to this power cannot change a Bayes factor of interest.
const minLog = -12

/**
 * The log Bayes factor of a step in front of each block against none. The filter runs forwards once; running backwards over its
 * errors gives what the votes say about a step at every moment, instead of one run per moment. The first block has no moment
 * before it: its factor is 0, the log of 1. In front of the blocks in `known`, a step of its own is allowed in any case.
 */
export function evidenceOfMoments(
  y: ArrayLike<number>,
  variance: ArrayLike<number>,
  drift: Readonly<Drift>,
  known: ReadonlySet<number> = new Set(),
): Float64Array {
  const count = y.length
  const steps = new Float64Array(count)
  for (const t of known) steps[t] = otherStepVariance
  const errors = new Float64Array(count * gridSize)
  const precisions = new Float64Array(count * gridSize)
  const kept = new Float64Array(count * gridSize)
  const partial = new Float64Array(gridSize)
  const product = new Float64Array(gridSize).fill(1)
  for (let g = 0; g < gridSize; g++) {
    let mean = Math.PI / 2
    let level = 1
    for (let t = 0, i = g * count; t < count; t++, i++) {
      const predicted = level + (levelVariances[g] as number) + (steps[t] as number)
      const total = predicted + (variance[t] as number) + (noiseVariances[g] as number)
      const gain = predicted / total
      const error = (y[t] as number) - mean
      addError(partial, product, g, error, total)
      mean += gain * error
      level = predicted * (1 - gain)
      errors[i] = error / total
      precisions[i] = 1 / total
      kept[i] = 1 - gain
    }
  }
  const weights = posteriorOf(drift, logLikelihoodOf({ partial, product }))
  const factors = new Float64Array(count)
  for (let g = 0; g < gridSize; g++) {
    // A point that is implausible without a step may be the most plausible with one, so only whole terms are left out.
    const logOfPoint = Math.log(weights[g] as number)
    let score = 0
    let information = 0
    for (let t = count - 1; t >= 1; t--) {
      const i = g * count + t
      const keeps = kept[i] as number
      score = (errors[i] as number) + keeps * score
      information = (precisions[i] as number) + keeps * keeps * information
      const half = (score * score) / 2
      // The widest step explains the most, so where it explains too little, so do the others.
      if (logOfPoint + half / (information + widest) < minLog) continue
      for (const { precision, weight } of stepSizes) {
        const sum = information + precision
        // As `logFactor`, but a square root takes less time than a logarithm. Bounded, because only which moment is best matters,
        // not by how many hundreds of digits.
        const log = Math.min(300, logOfPoint + half / sum)
        factors[t] = (factors[t] as number) + weight * Math.sqrt(precision / sum) * Math.exp(log)
      }
    }
  }
  return factors.map((factor, t) => (t === 0 ? 0 : Math.max(minLog, Math.log(factor))))
}

/** The block whose moment explains the votes best, apart from `except`. Null without any. */
export function bestMoment(moments: Float64Array, except = -1): number | null {
  let best: number | null = null
  for (let t = 1; t < moments.length; t++) {
    if (t !== except && (best === null || (moments[t] as number) > (moments[best] as number))) best = t
  }
  return best
}

/** The log Bayes factor of a step at an unknown moment, where every moment is equally likely. */
export function evidenceOfAnyMoment(moments: Float64Array): number {
  let sum = 0
  for (let t = 1; t < moments.length; t++) sum += Math.exp(moments[t] as number)
  return Math.log(sum / (moments.length - 1))
}
