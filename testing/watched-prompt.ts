import { blockSize, cutBlocks, type Sum } from '../server/src/domain/impact/model/blocks.ts'
import { type Drift, posteriorOf } from '../server/src/domain/impact/model/drift.ts'
import { evidenceOfChanges, levelsBefore, likelihoodOfDrift } from '../server/src/domain/impact/model/evidence.ts'
import { judge } from '../server/src/domain/impact/model/judgement.ts'
import {
  allowStep,
  copyLevels,
  type Levels,
  logLikelihoodOf,
  observe,
  startLevels,
} from '../server/src/domain/impact/model/local-level.ts'
import { type Season, seasonOf } from '../server/src/domain/impact/model/season.ts'
import {
  evidenceOfStep,
  observeStep,
  otherStepVariance,
  type Step,
  startStep,
  stepSizes,
} from '../server/src/domain/impact/model/step.ts'
import { type Difference, minLogBayesFactor } from '../server/src/domain/impact/model/verdict.ts'
import type { HourlySums, Tally } from '../server/src/domain/signals/tally.ts'
import { hour } from '../server/src/domain/time.ts'
import type { Votes } from './prompt-years.ts'

// Judges a prompt again and again while its votes arrive, as the judge in the background does, in a fraction of the time: what no
// longer changes is computed once, and the whole judgement is made only where it could be `worse`.

/** One look at a change. */
export interface Look {
  /** The number of the change; 0 is the text that the prompt starts with. */
  change: number
  /** The number of the drift, of those that it is judged with. */
  drift: number
  /** The judge looks at the end of this hour. */
  hour: number
  signalsAfter: number
  /** Null if the verdict is not `worse`. Evidence is the log10 of the Bayes factor. */
  worse: { evidence: number; difference: Difference } | null
}

export interface Watching {
  votes: Votes
  /** The hours in which changes went live, in order. */
  changes: readonly number[]
  drifts: readonly Readonly<Drift>[]
  /** Returns whether to watch on. */
  onLook: (look: Look) => boolean
  /** Looks start in this hour. */
  from?: number
}

interface Window {
  start: number
  /** Grows until the next change. */
  end: number
  sums: Sum[]
  tally: { positive: number; negative: number }
}

/** What is known before a change, and of the complete blocks after it. */
interface Prefix {
  sums: Sum[]
  past: Levels | null
  /** Right before the change. Null without votes there. */
  levels: Levels | null
  complete: { size: number; from: number; step: Step } | null
}

const narrowest = Math.max(...stepSizes.map(({ precision }) => precision))
const widest = Math.min(...stepSizes.map(({ precision }) => precision))

// The judge looks at most this often, and if there are votes to look at.
const hoursBetweenLooks = 2
const votesBetweenLooks = 5

const hoursPerWeek = 7 * 24

// As in short-windows.ts.
const minHours = 10
const maxVotesPerHour = 1.5

export function watchPrompt({ votes, changes, drifts, onLook, from = 0 }: Watching): void {
  const { offsets, values } = votes
  // The first window holds the votes from before the first version, here none.
  const windows: Window[] = [newWindow(0), newWindow(0)]
  let known: Prefix[] = []
  let knownSizes: readonly number[] = []
  const hours: HourlySums = { start: [], positive: [], negative: [] }
  let season: Season | null = null
  let seasonWeek = 0
  let judgedSizes: number[] = []
  let lastHour = 0
  let lastCount = 0
  for (let h = 0; h < offsets.length - 1; h++) {
    while (changes[windows.length - 2] === h) windows.push(newWindow(h))
    const window = windows.at(-1) as Window
    window.end = h + 1
    const { length } = window.sums
    addHour(window, votes, h)
    if (window.sums.length > length) addSum(hours, window.sums.at(-1) as Sum)
    const count = offsets[h + 1] as number
    const isDue = h - lastHour >= hoursBetweenLooks && count - lastCount >= votesBetweenLooks
    if (h < from || !isDue) continue
    lastHour = h
    lastCount = count
    const sizes = sizesOf(windows)
    // It changes once a week.
    if (Math.floor(h / hoursPerWeek) > seasonWeek) {
      seasonWeek = Math.floor(h / hoursPerWeek)
      season = seasonOf(hours)
      known = []
      judgedSizes = []
    }
    for (let w = 2; w < windows.length; w++) {
      const isLast = w === windows.length - 1
      // Votes arrive in order, so an earlier change is judged again only when it is cut in another way.
      if (!isLast && isSame(judgedSizes, sizes, w + 1)) continue
      const signalsAfter = countOf((windows[w] as Window).tally)
      for (const [drift, worse] of lookAt(w, sizes).entries()) {
        if (!onLook({ change: w - 1, drift, hour: h, signalsAfter, worse })) return
      }
    }
    judgedSizes = sizes
  }

  /** For each drift, the figures of a change that is `worse`. */
  function lookAt(w: number, sizes: number[]): Look['worse'][] {
    const none = drifts.map(() => null)
    const [before, after] = [windows[w - 1] as Window, windows[w] as Window]
    if (countOf(before.tally) < 20 || countOf(after.tally) < 20) return none
    if (rateOf(after.tally) >= rateOf(before.tally)) return none
    const prefix = prefixOf(w, sizes)
    if (prefix.levels === null) return none
    const size = sizes[w] as number
    const sums = sumsFor(after, size)
    const step = stepAfter(prefix, sums, sums === after.sums, size, season)
    if (step === null || !mayBeCertain(step, drifts)) return none
    const { past } = prefix
    const cut = () => cutBlocks([prefix.sums, sums], [sizes[w - 1] as number, size], season)
    return drifts.map((drift) => {
      const quick = evidenceOfStep(step, drift)
      if (quick.logBayesFactor < minLogBayesFactor || quick.mean >= 0) return null
      const evidence = evidenceOfChanges(cut(), 2, drift, (window) => window === 1, past)[1] ?? null
      const { verdict, difference } = judge({ before: before.tally, after: after.tally, evidence })
      if (verdict !== 'worse' || evidence === null || difference === null) return null
      return { evidence: evidence.logBayesFactor / Math.LN10, difference }
    })
  }

  /** What is known right before a change. Computed for all changes at once, whenever windows are cut in another way. */
  function prefixOf(w: number, sizes: readonly number[]): Prefix {
    if (known.length !== windows.length || !isSame(knownSizes, sizes, windows.length - 1)) {
      const past = [...windows.slice(0, -1).map(({ sums }) => sums), []]
      const blocks = cutBlocks(past, sizes, season)
      const levels = levelsBefore(blocks, past.length, () => true)
      const hasBlocks = new Set(blocks.window)
      known = windows.map((_, i): Prefix => {
        const before = windows[i - 1] as Window
        return {
          sums: before?.sums,
          past: levels[i - 1] ?? null,
          levels: hasBlocks.has(i - 1) ? (levels[i] ?? null) : null,
          complete: null,
        }
      })
      knownSizes = sizes
    }
    const prefix = known[w] as Prefix
    const sums = sumsFor(windows[w - 1] as Window, sizes[w - 1] as number)
    return sums === prefix.sums
      ? prefix
      : { ...prefix, sums, levels: levelsAfter(prefix.past, sums, sizes[w - 1] as number) }
  }

  function levelsAfter(past: Levels | null, sums: readonly Sum[], size: number): Levels | null {
    const { count, y, variance } = cutBlocks([sums, []], [size, size], season)
    if (count === 0) return null
    const levels = past === null ? startLevels() : copyLevels(past)
    if (past !== null) allowStep(levels, otherStepVariance)
    for (let t = 0; t < count; t++) observe(levels, y[t] as number, variance[t] as number)
    return levels
  }

  /** Windows of a few hours are read vote by vote. */
  function sumsFor({ sums, start, end, tally }: Window, size: number): Sum[] {
    if (sums.length >= minHours || countOf(tally) <= maxVotesPerHour * size * sums.length) return sums
    const single: Sum[] = []
    for (let h = start; h < end; h++) {
      const [first, last] = [offsets[h] as number, offsets[h + 1] as number]
      for (let i = first; i < last; i++) {
        const at = (h + (i - first) / (last - first)) * hour
        single.push({ start: at, positive: values[i] as number, negative: 1 - (values[i] as number) })
      }
    }
    return single
  }
}

/** The step after the blocks of these sums. Complete blocks are observed once. */
function stepAfter(
  prefix: Prefix,
  sums: readonly Sum[],
  areHours: boolean,
  size: number,
  season: Season | null,
): Step | null {
  let { complete } = prefix
  if (complete === null || complete.size !== size || !areHours) {
    complete = { size, from: 0, step: startStep(prefix.levels as Levels) }
  }
  const { from, step } = complete
  // In front of the open block, a complete one tells that the window has some, as cutting depends on it.
  const sumsOfBlock = { start: 0, positive: size, negative: 0 }
  const left = from === 0 ? sums : [sumsOfBlock, ...sums.slice(from)]
  const { count, y, variance, start } = cutBlocks([[], left], [size, size], season)
  const first = from === 0 ? 0 : 1
  for (let t = first; t < count - 1; t++) observeStep(step, y[t] as number, variance[t] as number, true)
  if (areHours) {
    const at = start[count - 1] as number
    const next = count - 1 > first ? sums.findIndex((sum, i) => i >= from && sum.start === at) : from
    prefix.complete = { size, from: next, step }
  }
  if (count === 0) return null
  if (count === first) return step
  const last = copyStep(step)
  observeStep(last, y[count - 1] as number, variance[count - 1] as number, true)
  return last
}

/** Whether the Bayes factor may be 20, by a bound that takes a quarter of the time. */
function mayBeCertain({ levels, information, score }: Step, drifts: readonly Readonly<Drift>[]): boolean {
  const logLikelihood = logLikelihoodOf(levels)
  const factors = score.map((u, g) => {
    const info = information[g] as number
    return Math.exp((Math.log(narrowest / (info + narrowest)) + (u * u) / (info + widest)) / 2)
  })
  return drifts.some((drift) => {
    const weights = posteriorOf(drift, logLikelihood)
    return factors.reduce((sum, factor, g) => sum + factor * (weights[g] as number), 0) >= Math.exp(minLogBayesFactor)
  })
}

function copyStep({ levels, pattern, information, score }: Step): Step {
  return {
    levels: copyLevels(levels),
    pattern: pattern.slice(),
    information: information.slice(),
    score: score.slice(),
  }
}

/** What a whole past tells about how votes drift. */
export function driftOf(votes: Votes, changes: readonly number[]): Float64Array {
  const windows: Window[] = [newWindow(0), newWindow(0)]
  const hours: HourlySums = { start: [], positive: [], negative: [] }
  for (let h = 0; h < votes.offsets.length - 1; h++) {
    while (changes[windows.length - 2] === h) windows.push(newWindow(h))
    addHour(windows.at(-1) as Window, votes, h)
  }
  for (const sum of windows.flatMap(({ sums }) => sums)) addSum(hours, sum)
  const all = windows.map(({ sums }) => sums)
  const blocks = cutBlocks(all, sizesOf(windows), seasonOf(hours))
  return likelihoodOfDrift(blocks, windows.length)
}

function sizesOf(windows: readonly Window[]): number[] {
  const totals = windows.map(({ tally }) => tally)
  return totals.map(blockSize(totals))
}

function addSum(hours: HourlySums, { start, positive, negative }: Sum): void {
  hours.start.push(start)
  hours.positive.push(positive)
  hours.negative.push(negative)
}

function newWindow(start: number): Window {
  return { start, end: start, sums: [], tally: { positive: 0, negative: 0 } }
}

function addHour({ sums, tally }: Window, { offsets, values }: Votes, h: number): void {
  const [from, until] = [offsets[h] as number, offsets[h + 1] as number]
  if (from === until) return
  let positive = 0
  for (let i = from; i < until; i++) positive += values[i] as number
  const negative = until - from - positive
  sums.push({ start: h * hour, positive, negative })
  tally.positive += positive
  tally.negative += negative
}

function isSame(a: readonly number[], b: readonly number[], length: number): boolean {
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return false
  return true
}

function countOf({ positive, negative }: Tally): number {
  return positive + negative
}

function rateOf({ positive, negative }: Tally): number {
  return positive / (positive + negative)
}
