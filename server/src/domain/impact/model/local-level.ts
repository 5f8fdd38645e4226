import { gridSize, levelVariances, noiseVariances } from './drift.ts'

/**
 * The local level model, for each point of the grid: the level performs a random walk, and the blocks are observed with noise. A
 * Kalman filter keeps the distribution of the level and the likelihood of the blocks so far.
 */
export interface Levels {
  mean: Float64Array
  variance: Float64Array
  /** The log-likelihood, except for the variances of the errors: their product is kept instead of the sum of their logarithms. */
  partial: Float64Array
  product: Float64Array
}

// A logarithm per block would take most of the time. One is taken before the product gets too small for a number.
const minProduct = 1e-200

/** Before the first block, the level may be anywhere: `y` lies between 0 and π. */
export function startLevels(): Levels {
  return {
    mean: new Float64Array(gridSize).fill(Math.PI / 2),
    variance: new Float64Array(gridSize).fill(1),
    partial: new Float64Array(gridSize),
    product: new Float64Array(gridSize).fill(1),
  }
}

export function copyLevels({ mean, variance, partial, product }: Levels): Levels {
  return { mean: mean.slice(), variance: variance.slice(), partial: partial.slice(), product: product.slice() }
}

/** Allows the level a step of its own, as after an earlier change. */
export function allowStep({ variance }: Levels, stepVariance: number): void {
  for (let g = 0; g < gridSize; g++) variance[g] = (variance[g] as number) + stepVariance
}

/** The log-likelihood of the blocks so far at each point of the grid, up to a constant. */
export function logLikelihoodOf({ partial, product }: Pick<Levels, 'partial' | 'product'>): Float64Array {
  return partial.map((log, g) => log - Math.log(product[g] as number) / 2)
}

export function observe({ mean, variance, partial, product }: Levels, y: number, sampling: number): void {
  for (let g = 0; g < gridSize; g++) {
    const predicted = (variance[g] as number) + (levelVariances[g] as number)
    const total = predicted + sampling + (noiseVariances[g] as number)
    const gain = predicted / total
    const error = y - (mean[g] as number)
    mean[g] = (mean[g] as number) + gain * error
    variance[g] = predicted * (1 - gain)
    addError(partial, product, g, error, total)
  }
}

export function addError(partial: Float64Array, product: Float64Array, g: number, error: number, total: number): void {
  let log = (partial[g] as number) - (error * error) / total / 2
  let factor = (product[g] as number) * total
  if (factor < minProduct) {
    log -= Math.log(factor) / 2
    factor = 1
  }
  partial[g] = log
  product[g] = factor
}
