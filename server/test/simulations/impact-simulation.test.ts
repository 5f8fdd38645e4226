import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  delayAgainstOracle,
  falseDiscoveries,
  medianUntilWorse,
  type Shares,
  shareFound,
  shareFoundInStatements,
} from '../../../testing/impact-simulation.ts'
import { type ShiftCase, shiftCases, simulateShifts } from '../../../testing/shift-simulation.ts'
import { audience, canary, lateVotes, rates, season, steady, voters, walk } from '../../../testing/votes.ts'

// The short form of testing/impact-simulation.ts, with fixed seeds. Bounds allow for chance in so few histories.

function atMost(share: number, { old, new: found }: Shares): void {
  assert.ok(found <= share, `${100 * found}%; the old rule: ${100 * old}%`)
}

function atLeast(share: number, { new: found }: Shares): void {
  assert.ok(found >= share, `${100 * found}%`)
}

test('a fake change among the votes of a real conversation is found better or worse in at most 3% of histories', () => {
  const shares = shareFoundInStatements(640, 1)
  assert.ok(shares.old > 0.3, 'the votes do drift')
  atMost(0.03, shares)
})

test('a rate that drifts or follows the week is found better or worse in at most 8% of 50 histories', () => {
  atMost(0.08, shareFound(steady(2_000, 1_000, walk(0.5)), 50, 2))
  atMost(0.08, shareFound(steady(2_000, 1_000, walk(1)), 50, 3))
  atMost(0.08, shareFound(steady(2_000, 1_000, season(4)), 50, 4))
})

test('voters who vote ten times each are not mistaken for an effect, even if they are not named', () => {
  atMost(0.08, shareFound(steady(1_000, 1_000, voters(5)), 50, 5))
  atMost(0.08, shareFound(steady(1_000, 1_000, voters(10)), 50, 6))
})

test('an audience that changes is not mistaken for an effect if its segment is declared', () => {
  atMost(0.05, shareFound(audience(1_000, 1_000, [0.9, 0.7], [0.7, 0.5]), 40, 7, { bySegment: true, every: 100 }))
})

test('of 20 segments without an effect, none is reported in at least 95% of histories', () => {
  atMost(0.05, falseDiscoveries(20, 9))
})

test('independent votes without a change are found better or worse in at most 5% of histories', () => {
  atMost(0.05, shareFound(steady(1_000, 1_000, rates(0.85, 0.85)), 100, 8))
})

test('a fall after a long calm past is found: from 85% to 75%, from 95% to 90%, and from 85% to 80%', () => {
  atLeast(0.95, shareFound(steady(4_000, 1_000, rates(0.85, 0.75)), 40, 10))
  atLeast(0.85, shareFound(steady(4_000, 1_000, rates(0.95, 0.9)), 40, 12))
  atLeast(0.8, shareFound(steady(6_000, 3_000, rates(0.85, 0.8)), 30, 13))
})

test('a fall after 2,000 calm votes is found with about three times as many votes as if both rates were known', () => {
  const { new: times } = delayAgainstOracle(150, 16)
  assert.ok(times <= 3.5, `${times} times`)
})

test('a fall from 85% to 75% is found in at least 85% of histories with 1,000 votes on each side', () => {
  atLeast(0.85, shareFound(steady(1_000, 1_000, rates(0.85, 0.75)), 100, 11))
})

test('a 10% canary that is 10 points worse is found in at least 95% of histories if votes name their version', () => {
  atLeast(0.95, shareFound(canary(1_000, 5_000, 0.85, 0.75, 0.1), 40, 15, { byVersion: true, every: 500 }))
})

test('late votes that name their version delay the verdict by at most a fifth of the signals', () => {
  const prompt = medianUntilWorse(steady(1_500, 1_000, rates(0.85, 0.75)), 60, 14)
  const late = medianUntilWorse(lateVotes(1_500, 1_500, 0.85, 0.75, 300), 60, 14, { byVersion: true, every: 40 })
  assert.ok(late.new <= 1.2 * prompt.new, `${late.new} against ${prompt.new}`)
})

test('a fall without a change is found after another one came and went with changes, and few others are', () => {
  const [, fall, , calm] = shiftCases as [ShiftCase, ShiftCase, ShiftCase, ShiftCase]
  const { unknown, known } = simulateShifts(fall, 40, 51)
  assert.ok(unknown.found <= 0.05 && known.found >= 0.4, `${unknown.found} ${known.found}`)
  assert.ok(simulateShifts(calm, 40, 53).known.wrong <= 0.1)
})
