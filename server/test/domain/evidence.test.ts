import assert from 'node:assert/strict'
import { test } from 'node:test'
import { quickEvidence } from '../../../testing/impact-simulation.ts'
import { seededRandom } from '../../../testing/random.ts'
import type { LivePeriod } from '../../src/domain/impact/live/live-window.ts'
import { type Blocks, blockSizes, cutBlocks, type Sum } from '../../src/domain/impact/model/blocks.ts'
import {
  defaultDrift,
  gridSize,
  learnDrift,
  levelVariances,
  noiseVariances,
  posteriorOf,
} from '../../src/domain/impact/model/drift.ts'
import { evidenceOfChanges, levelsBefore, likelihoodOfDrift } from '../../src/domain/impact/model/evidence.ts'
import { evidenceOfMoments } from '../../src/domain/impact/model/moments.ts'
import { pastOf } from '../../src/domain/impact/model/past.ts'
import { seasonOf } from '../../src/domain/impact/model/season.ts'
import { changesWithin, rangeOfStep, shiftsOf } from '../../src/domain/impact/model/shifts.ts'
import type { VoteHistory } from '../../src/domain/impact/reading/vote-history.ts'
import { hour, hourStart } from '../../src/domain/time.ts'
import { assertClose } from './tallies.ts'

function hoursAt(rate: number, votes: number, first: number, seed: number): Sum[] {
  const random = seededRandom(seed)
  return Array.from({ length: votes / 10 }, (_, i) => {
    let positive = 0
    for (let vote = 0; vote < 10; vote++) positive += random() < rate ? 1 : 0
    return { start: (first + i) * hour, positive, negative: 10 - positive }
  })
}

test('the Bayes factor agrees with the ratio of multivariate normal densities that defines it', () => {
  const windows = [hoursAt(0.85, 120, 0, 1), hoursAt(0.7, 120, 100, 2)]
  const blocks = cutBlocks(windows)
  const { count, y, variance, window } = blocks
  const steps = [
    [0.12, 0.2],
    [0.2, 0.4],
    [0.3, 0.2],
    [0.5, 0.2],
  ] as const
  const density = (g: number, step: number) => {
    const covariance = Array.from({ length: count }, (_, i) =>
      Array.from({ length: count }, (_, j) => {
        const level = 1 + (Math.min(i, j) + 1) * (levelVariances[g] as number)
        const own = i === j ? (variance[i] as number) + (noiseVariances[g] as number) : 0
        return level + own + (window[i] === 1 && window[j] === 1 ? step * step : 0)
      }),
    )
    return logDensity(
      Array.from(y, (value) => value - Math.PI / 2),
      covariance,
    )
  }
  let [withStep, without] = [0, 0]
  for (let g = 0; g < gridSize; g++) {
    const weight = Math.exp(defaultDrift[g] as number)
    without += weight * Math.exp(density(g, 0))
    for (const [step, share] of steps) withStep += weight * share * Math.exp(density(g, step))
  }
  const evidence = evidenceOfChanges(blocks, 2)[1]
  assertClose(evidence?.logBayesFactor, Math.log(withStep / without), 1e-9)
})

// Up to a constant, by Cholesky's decomposition.
function logDensity(values: number[], covariance: number[][]): number {
  const n = values.length
  const root = covariance.map((row) => row.slice())
  let log = 0
  const solved: number[] = []
  for (let i = 0; i < n; i++) {
    const row = root[i] as number[]
    for (let j = 0; j <= i; j++) {
      let sum = row[j] as number
      for (let k = 0; k < j; k++) sum -= (row[k] as number) * ((root[j] as number[])[k] as number)
      row[j] = i === j ? Math.sqrt(sum) : sum / ((root[j] as number[])[j] as number)
    }
    let value = values[i] as number
    for (let k = 0; k < i; k++) value -= (row[k] as number) * (solved[k] as number)
    solved.push(value / (row[i] as number))
    log -= Math.log(row[i] as number) + (solved[i] as number) ** 2 / 2
  }
  return log
}

test('the evidence on a step at a moment is the same forwards and backwards', () => {
  const blocks = cutBlocks([hoursAt(0.85, 400, 0, 3), hoursAt(0.75, 400, 100, 4)])
  const moments = evidenceOfMoments(blocks.y, blocks.variance, defaultDrift)
  const change = blocks.window.indexOf(1)
  assertClose(moments[change], evidenceOfChanges(blocks, 2)[1]?.logBayesFactor ?? 0, 1e-3)
})

test('the simulation judges by the same factor as the service', () => {
  const before = hoursAt(0.85, 1_000, 0, 5)
  const after = hoursAt(0.75, 500, 1_000, 6)
  const quick = quickEvidence(before, defaultDrift)
  for (const looks of [4, 7, 20, 50]) {
    const evidence = evidenceOfChanges(cutBlocks([before, after.slice(0, looks)]), 2)[1]
    assertClose(quick(after.slice(0, looks)), evidence?.logBayesFactor ?? 0, 1e-9)
  }
})

test('each change is compared with the version before it, whatever earlier changes did', () => {
  const windows = [0.6, 0.9, 0.9, 0.7].map((rate, i) => hoursAt(rate, 1_000, 200 * i, 10 + i))
  const [first, better, same, worse] = evidenceOfChanges(cutBlocks(windows), 4)
  assert.equal(first, null)
  assert.ok(better && better.logBayesFactor > 3 && better.mean > 0)
  assert.ok(same && same.logBayesFactor < 1)
  assert.ok(worse && worse.logBayesFactor > 3 && worse.mean < 0)
})

test('votes on the old version that arrive after the change count for the old version', () => {
  const before = hoursAt(0.85, 1_000, 0, 20)
  const late = hoursAt(0.85, 300, 100, 21)
  const after = hoursAt(0.7, 600, 100, 22)
  const evidence = evidenceOfChanges(cutBlocks([[...before, ...late], after]), 2)[1]
  assert.ok(evidence && evidence.logBayesFactor > 3 && evidence.mean < 0)
})

test('a fall before the change is found where it began', () => {
  const before = [...hoursAt(0.9, 1_000, 0, 30), ...hoursAt(0.7, 400, 100, 31)]
  const evidence = evidenceOfChanges(cutBlocks([before, hoursAt(0.7, 600, 140, 32)]), 2)[1]
  assert.ok(evidence)
  const elsewhere = evidence.findElsewhere()
  assert.ok(elsewhere && Math.abs(elsewhere.start - 100 * hour) <= 6 * hour)
  assert.ok(elsewhere.logBayesFactor > evidence.logBayesFactor)
})

test('calm votes on other prompts make an effect visible sooner, and restless ones later', () => {
  const factor = (windows: Sum[][], drift?: Float64Array) =>
    evidenceOfChanges(cutBlocks(windows), 2, drift)[1]?.logBayesFactor ?? 0
  const calm = Array.from({ length: 10 }, (_, i) => likelihoodOfDrift(cutBlocks([hoursAt(0.85, 2_000, 0, 50 + i)]), 1))
  const restless = Array.from({ length: 10 }, (_, i) => {
    const windows = Array.from({ length: 20 }, (_, k) => hoursAt(k % 2 ? 0.9 : 0.6, 100, 10 * k, 70 + 20 * i + k))
    return likelihoodOfDrift(cutBlocks([windows.flat()]), 1)
  })
  const smallFall = [hoursAt(0.85, 600, 0, 40), hoursAt(0.75, 400, 100, 41)]
  assert.ok(factor(smallFall, learnDrift(calm)) > factor(smallFall) + 0.3)
  const jump = [hoursAt(0.8, 120, 0, 42), hoursAt(0.5, 120, 100, 43)]
  assert.ok(factor(jump, learnDrift(restless)) < factor(jump) - 0.3)
})

test('other prompts never rule out any kind of drift, and their weights sum to 1', () => {
  const calm = Array.from({ length: 200 }, () => likelihoodOfDrift(cutBlocks([hoursAt(0.85, 2_000, 0, 7)]), 1))
  const learned = learnDrift(calm)
  let sum = 0
  for (let g = 0; g < gridSize; g++) {
    sum += Math.exp(learned[g] as number)
    assert.ok((learned[g] as number) >= (defaultDrift[g] as number) + Math.log(8 / 208) - 1e-9)
  }
  assertClose(sum, 1, 1e-9)
  assert.deepEqual(learnDrift([]), defaultDrift)
  assert.equal(posteriorOf(learned, calm[0] as Float64Array).length, gridSize)
})

test('a shift is reported with its time and both rates, and calm votes have none', () => {
  const calm = cutBlocks([hoursAt(0.85, 2_000, 0, 80)])
  assert.deepEqual(shiftsOf(calm), [])
  const moved = cutBlocks([[...hoursAt(0.9, 1_000, 0, 81), ...hoursAt(0.7, 1_000, 100, 82)]])
  const [shift, ...rest] = shiftsOf(moved)
  assert.ok(shift)
  assert.deepEqual(rest, [])
  assert.ok(shift.between[0] <= 100 * hour && 100 * hour <= shift.between[1])
  assertClose(shift.rateBefore, 0.9, 0.03)
  assertClose(shift.rateAfter, 0.7, 0.03)
})

test('a rate that falls and comes back with two changes hides another fall, unless their steps are known', () => {
  const windows = [
    hoursAt(0.85, 2_000, 0, 83),
    hoursAt(0.7, 1_000, 200, 84),
    [...hoursAt(0.85, 1_500, 300, 85), ...hoursAt(0.73, 1_500, 450, 86)],
  ]
  const blocks = cutBlocks(windows)
  const around = (hours: number) => shiftsOf(blocks).some(({ at }) => Math.abs(at - hours * hour) < 30 * hour)
  assert.ok(!around(450))
  const known = new Set([1, 2].map((window) => blocks.window.indexOf(window)))
  const [shift, ...rest] = shiftsOf(blocks, defaultDrift, known)
  assert.deepEqual(rest, [])
  assert.ok(shift && shift.between[0] <= 450 * hour && 450 * hour <= shift.between[1])
  // The rates of the window, without those before the last known step.
  assertClose(shift.rateBefore, 0.85, 0.03)
  assertClose(shift.rateAfter, 0.73, 0.03)
})

test('the step of a change may have happened as long as other moments explain the votes almost as well', () => {
  const [large, small] = [0.5, 0.8].map((rate) =>
    cutBlocks([hoursAt(0.9, 1_000, 0, 87), hoursAt(rate, 1_000, 100, 88)]),
  )
  const [from, until] = rangeOfStep(large as Blocks, 0, 1) as [number, number]
  assert.ok(from < 100 * hour && 100 * hour <= until)
  const wider = rangeOfStep(small as Blocks, 0, 1) as [number, number]
  assert.ok(wider[1] - wider[0] > until - from)
  assert.equal(rangeOfStep(large as Blocks, 1, 2), null)
})

test('the changes within the range of a shift are found, the nearest first', () => {
  const shift = { at: 100, between: [90, 110] as [number, number] }
  assert.deepEqual(changesWithin(shift, [20, 91, 97, 109, 111]), [2, 1, 3])
  assert.deepEqual(changesWithin(shift, [20, 111]), [])
})

/** All windows of a prompt, also those without votes: each hour belongs to the first credit that covers it. */
function everyWindow({ periods, hours }: Pick<VoteHistory, 'periods' | 'hours'>): Sum[][] {
  const windows = [[], ...periods].map((): Sum[] => [])
  const first = Math.min(...periods.map((period) => period.windows[0]?.from ?? 0))
  const credits = periods.flatMap((period, place) => period.credits.map((credit) => ({ ...credit, window: place + 1 })))
  const ordered = [{ window: 0, from: 0, until: first as number | null }, ...credits.sort((a, b) => a.from - b.from)]
  let i = 0
  for (const { window, from, until } of ordered) {
    while (i < hours.start.length && (hours.start[i] as number) < hourStart(from)) i++
    while (i < hours.start.length && (hours.start[i] as number) < (until === null ? Infinity : hourStart(until))) {
      const [positive, negative] = [hours.positive[i] as number, hours.negative[i] as number]
      windows[window]?.push({ start: hours.start[i] as number, positive, negative })
      i++
    }
  }
  return windows
}

test('the past of each change is the same as if all windows were cut, however many have no votes', () => {
  for (let seed = 0; seed < 40; seed++) {
    const random = seededRandom(seed)
    const integer = (max: number) => Math.floor(random() * max)
    const count = 1 + integer(60)
    const from = Array.from({ length: count }, () => 100 * hour + integer(300 * hour)).sort((a, b) => a - b)
    const periods = from.map((at, i): LivePeriod => {
      const change = { id: i + 1, commitSha: '', seq: null, createdAt: at, orphanedAt: null, mergedAt: at }
      const credits = [{ from: at, until: from[i + 1] ?? null, shared: false, source: 'merge' as const }]
      // A rollback, which overlaps with others.
      if (integer(4) === 0)
        credits.push({
          from: at + integer(100 * hour),
          until: at + integer(200 * hour),
          shared: false,
          source: 'merge',
        })
      const windows = credits.map((credit) => ({ ...credit, share: 1, environment: null }))
      return { change, windows, credits, earlier: null }
    })
    const starts = Array.from({ length: 420 }, (_, i) => i * hour).filter(() => random() < 0.5)
    const hours = { start: starts, positive: starts.map(() => integer(30)), negative: starts.map(() => integer(10)) }
    const placeOf = new Map(periods.map(({ change }, place) => [change.id, place]))
    const history = { prompt: { id: seed }, periods, hours, placeOf } as unknown as VoteHistory
    const windows = everyWindow(history)
    const sizes = blockSizes(windows)
    const levels = levelsBefore(cutBlocks(windows, sizes, seasonOf(hours)), windows.length, () => true)
    const past = pastOf(history, periods)
    for (const [place, period] of periods.entries()) {
      assert.equal(past.sizeOf(period), sizes[place + 1], `seed ${seed}`)
      assert.deepEqual(past.levelsBefore(period), levels[place + 1], `seed ${seed}`)
    }
  }
})
