import { createTurns, day, type Instant } from '../../time.ts'
import type { VoteHistory } from '../reading/vote-history.ts'
import { type Blocks, rateAt } from './blocks.ts'
import { chainOf } from './chain.ts'
import { type Drift, gridSize, levelVariances, noiseVariances, posteriorOf } from './drift.ts'
import { levelsBefore } from './evidence.ts'
import { type Levels, logLikelihoodOf } from './local-level.ts'
import { evidenceOfStep, observeStep, startStep } from './step.ts'
import { isCertain } from './unexplained.ts'
import { notableDifference } from './verdict.ts'

/** How long the verdict on a next change would take at today's traffic. */
export interface ExpectedVerdicts {
  /** Of the last 14 days. */
  votesPerDay: number
  /** For changes of the rate by these differences. Null for more than a year. */
  waits: { difference: number; days: number | null }[]
}

const trafficDays = 14
const maxDays = 365
const differences = [notableDifference, 2 * notableDifference]
// Of votes after the change. The median of so many is within about a fifth of the true one.
const futures = 41
// As many as a verdict is computed from.
const maxBlocks = 512

export async function expectedVerdicts(
  history: VoteHistory,
  drift: Readonly<Drift>,
  now: Instant,
): Promise<ExpectedVerdicts> {
  const { blocks, windows, sizeOfEmpty } = chainOf(history)
  const votesPerDay = trafficOf(history, now)
  const waits: ExpectedVerdicts['waits'] = []
  for (const difference of differences) {
    const votes =
      votesPerDay === 0 ? null : await votesUntilVerdict(blocks, windows.length, sizeOfEmpty, difference, drift)
    const days = votes === null ? Number.POSITIVE_INFINITY : votes / votesPerDay
    waits.push({ difference, days: days <= maxDays ? days : null })
  }
  return { votesPerDay, waits }
}

function trafficOf({ hours: { start, positive, negative } }: VoteHistory, now: Instant): number {
  const since = now - trafficDays * day
  let votes = 0
  for (let i = start.length - 1; i >= 0 && (start[i] as number) >= since; i--) {
    votes += (positive[i] as number) + (negative[i] as number)
  }
  const first = start[0] ?? now
  return votes / Math.max(1, Math.min(trafficDays, (now - first) / day))
}

/**
 * How many votes on the next version it takes until half of the falls by this difference, or rises where the rate is too low to fall, have a
 * verdict. Draws votes as the past leads us to expect them, drift included, and runs the filter of the verdict on them. Null if that takes more votes
 * than we draw.
 */
export async function votesUntilVerdict(
  blocks: Blocks,
  windows: number,
  size: number,
  difference: number,
  drift: Readonly<Drift>,
): Promise<number | null> {
  const levels = levelsBefore(blocks, windows + 1, (window) => window === windows)[windows] ?? null
  if (levels === null) return null
  const weights = posteriorOf(drift, logLikelihoodOf(levels))
  const rate = rateAt(sum(weights.map((weight, g) => weight * (levels.mean[g] as number))))
  const next = rate - difference > 0.02 ? rate - difference : rate + difference
  const effect = 2 * (Math.asin(Math.sqrt(next)) - Math.asin(Math.sqrt(rate)))
  const random = createRandom()
  const found: number[] = []
  let undecided = 0
  const takeTurns = createTurns()
  for (let future = 0; future < futures && undecided <= futures >> 1; future++) {
    const blocksTaken = blocksUntilVerdict(levels, weights, effect, 1 / (size + 1 / 2), drift, random)
    if (blocksTaken === null) undecided++
    else found.push(blocksTaken)
    await takeTurns()
  }
  if (undecided > futures >> 1) return null
  return (found.sort((a, b) => a - b)[futures >> 1] as number) * size
}

/** In one future. Null if there is none within those that we draw. */
function blocksUntilVerdict(
  levels: Levels,
  weights: Float64Array,
  effect: number,
  variance: number,
  drift: Readonly<Drift>,
  random: () => number,
): number | null {
  const step = startStep(levels)
  const g = drawIndex(weights, random)
  const deviation = Math.sqrt((noiseVariances[g] as number) + variance)
  let level = (levels.mean[g] as number) + effect + Math.sqrt(levels.variance[g] as number) * normal(random)
  for (let block = 1, look = 1; block <= maxBlocks; block++) {
    level += Math.sqrt(levelVariances[g] as number) * normal(random)
    const y = level + deviation * normal(random)
    observeStep(step, Math.min(Math.PI, Math.max(0, y)), variance, true)
    if (block < look) continue
    const evidence = evidenceOfStep(step, drift)
    if (isCertain(evidence) && Math.sign(evidence.mean) === Math.sign(effect)) return block
    // The evidence takes most of the time.
    look = Math.max(block + 1, Math.floor(1.1 * block))
  }
  return null
}

function drawIndex(weights: Float64Array, random: () => number): number {
  let left = random()
  for (let g = 0; g < gridSize; g++) {
    left -= weights[g] as number
    if (left <= 0) return g
  }
  return gridSize - 1
}

function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}

/** The same numbers each time (mulberry32), so that the same votes have the same answer. */
function createRandom(): () => number {
  let state = 1
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

function sum(numbers: Float64Array): number {
  return numbers.reduce((total, number) => total + number, 0)
}
