import assert from 'node:assert/strict'
import { test } from 'node:test'
import { falls, harmlessYears, surroundings } from '../../../testing/alert-simulation.ts'

// The short form of testing/alert-simulation.ts, with fixed seeds.

const perDay = 150
const drift = [
  'random walk, 0.5 points a day',
  'random walk, 1 point a day',
  'weekly and yearly season, ±4 points each',
  'walk of 0.5 points, and seasons',
]

function surroundingsOf(name: string): NonNullable<(typeof surroundings)[string]> {
  const found = surroundings[name]
  assert.ok(found !== undefined, name)
  return found
}

// Slow: simulates years of votes.
test('with drift, seasons and 12 harmless changes a year, people are told about at most 0.05 regressions a year', () => {
  const outcomes = drift.map((name, i) =>
    harmlessYears(
      surroundingsOf(name)(() => 0),
      perDay,
      12,
      100 + i,
    ),
  )
  const average = (of: 'worse' | 'told') => outcomes.reduce((sum, outcome) => sum + outcome[of] / outcomes.length, 0)
  assert.ok(average('told') <= 0.05, `${average('told')}`)
  assert.ok(average('worse') > 0.05, `the verdict alone would tell ${average('worse')}`)
})

test('a fall from 85% to 75% at 150 signals a day is told within 8 days in 90% of runs, also with drift or seasons', () => {
  const names = ['calm', 'random walk, 0.5 points a day', 'weekly and yearly season, ±4 points each']
  const shares = names.map((name, i) => falls(surroundingsOf(name), 20, 200 + i).within8Days)
  const average = shares.reduce((sum, share) => sum + share / shares.length, 0)
  assert.ok(average >= 0.9, `${shares}`)
})
