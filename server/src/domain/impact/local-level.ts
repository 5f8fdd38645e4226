import { driftVariances, gridSize, noiseVariances } from './wander.ts'

/**
 * The local level model, for each point of the grid: the level performs a random walk, and the blocks are observed with noise. A
 * Kalman filter keeps the distribution of the level and the likelihood of the blocks so far.
 */
export interface Levels {
  mean: Float64Array
  variance: Float64Array
  logLikelihood: Float64Array
}

// Before the first block, the level may be anywhere: `y` lies between 0 and π.
export function startLevels(): Levels {
  return {
    mean: new Float64Array(gridSize).fill(Math.PI / 2),
    variance: new Float64Array(gridSize).fill(1),
    logLikelihood: new Float64Array(gridSize),
  }
}

export function copyLevels({ mean, variance, logLikelihood }: Levels): Levels {
  return { mean: mean.slice(), variance: variance.slice(), logLikelihood: logLikelihood.slice() }
}

/** Allows the level a step of its own, as after an earlier change. */
export function allowStep({ variance }: Levels, stepVariance: number): void {
  for (let g = 0; g < gridSize; g++) (variance[g] as number) += stepVariance
}

export function observe({ mean, variance, logLikelihood }: Levels, y: number, sampling: number): void {
  for (let g = 0; g < gridSize; g++) {
    const predicted = (variance[g] as number) + (driftVariances[g] as number)
    const total = predicted + sampling + (noiseVariances[g] as number)
    const gain = predicted / total
    const error = y - (mean[g] as number)
    logLikelihood[g] = (logLikelihood[g] as number) - (Math.log(total) + (error * error) / total) / 2
    mean[g] = (mean[g] as number) + gain * error
    variance[g] = predicted * (1 - gain)
  }
}
