// How much the votes on a prompt drift without any change: the level of each block differs from the one before by a random step
// with standard deviation `level`, and each block deviates from the level by `noise` on top of its sampling error. Both are on the
// scale of `Blocks.y`, where 0.1 is about 4 points at a rate of 80% and 5 points at 50%.
const levelSteps = [0, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32]
const noises = [0, 0.03, 0.06, 0.12, 0.24, 0.4]

// Three kinds of prompts: half are calm, one in ten drifts slowly, and the rest get a different audience now and then, whose votes
// jump by 20 points and stay there for a while. A rule that expects only drift blames such a jump on the change that happens to be
// near. A few hundred votes cannot exclude the last kind; 1,000 calm ones can, and that is when a small effect is found.
const levelWeights = [8, 0.1, 0.1, 1, 0.1, 0.3, 2, 3, 2]
const noiseWeights = [4, 1, 1, 1, 1, 1]

const points = levelSteps.flatMap((level, i) =>
  noises.map((noise, j) => ({ level, noise, weight: (levelWeights[i] as number) * (noiseWeights[j] as number) })),
)
const totalWeight = points.reduce((sum, { weight }) => sum + weight, 0)

/** The grid of possible drift. Every array of the same length has a number for each of its points. */
export const gridSize = points.length
export const levelVariances = Float64Array.from(points, ({ level }) => level * level)
export const noiseVariances = Float64Array.from(points, ({ noise }) => noise * noise)

/** How plausible each point of the grid is: logarithms of weights that sum to 1. */
export type Drift = Float64Array

/** What we expect of a prompt in an organisation without others. */
export const defaultDrift: Readonly<Drift> = Float64Array.from(points, ({ weight }) => Math.log(weight / totalWeight))

// As much as this many prompts, the default counts. An organisation with few prompts, or ones with few votes, changes it little.
export const defaultPrompts = 8

const rounds = 5

/**
 * What an organisation's other prompts lead us to expect, from the log-likelihoods of their past at each point of the grid. Each
 * prompt is one vote on the weights of the grid, divided by how plausible the points are for it. The base, what we expect without
 * them, keeps its share, so no point is ever ruled out by other prompts.
 */
export function learnDrift(
  logLikelihoods: readonly Readonly<Float64Array>[],
  base: Readonly<Drift> = defaultDrift,
): Drift {
  const drift = Float64Array.from(base)
  for (let round = 0; round < rounds && logLikelihoods.length > 0; round++) {
    const weights = Float64Array.from(base, (log) => defaultPrompts * Math.exp(log))
    for (const logLikelihood of logLikelihoods) {
      const posterior = posteriorOf(drift, logLikelihood)
      for (let g = 0; g < gridSize; g++) (weights[g] as number) += posterior[g] as number
    }
    for (let g = 0; g < gridSize; g++) {
      drift[g] = Math.log((weights[g] as number) / (defaultPrompts + logLikelihoods.length))
    }
  }
  return drift
}

/** The weights of the grid after the votes, which sum to 1. */
export function posteriorOf(drift: Readonly<Drift>, logLikelihood: Readonly<Float64Array>): Float64Array {
  let max = Number.NEGATIVE_INFINITY
  for (let g = 0; g < gridSize; g++) max = Math.max(max, (drift[g] as number) + (logLikelihood[g] as number))
  const weights = new Float64Array(gridSize)
  let total = 0
  for (let g = 0; g < gridSize; g++) {
    const weight = Math.exp((drift[g] as number) + (logLikelihood[g] as number) - max)
    weights[g] = weight
    total += weight
  }
  for (let g = 0; g < gridSize; g++) (weights[g] as number) /= total
  return weights
}
