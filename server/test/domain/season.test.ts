import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../../testing/random.ts'
import { blockSizes, cutBlocks } from '../../src/domain/impact/model/blocks.ts'
import { seasonOf } from '../../src/domain/impact/model/season.ts'
import type { HourlySums } from '../../src/domain/signals/tally.ts'
import { day, hour } from '../../src/domain/time.ts'

const monday = Date.UTC(2026, 0, 5)

/** Votes of this many days, every hour, with a rate for each day and hour. */
function votes(days: number, perHour: number, rateAt: (day: number) => number, seed = 1): HourlySums {
  const random = seededRandom(seed)
  const sums: HourlySums = { start: [], positive: [], negative: [] }
  for (let h = 0; h < 24 * days; h++) {
    let positive = 0
    for (let i = 0; i < perHour; i++) if (random() < rateAt(h / 24)) positive++
    sums.start.push(monday + h * hour)
    sums.positive.push(positive)
    sums.negative.push(perHour - positive)
  }
  return sums
}

const isWeekend = (at: number) => Math.floor(at) % 7 >= 5
const weekends = (at: number) => (isWeekend(at) ? 0.7 : 0.85)

test('a rate that is lower every weekend has a season with low weekends, and no other days stand out', () => {
  const season = seasonOf(votes(100, 10, weekends))
  assert.ok(season !== null)
  const noons = [0, 1, 2, 3, 4, 5, 6].map((weekday) => season(monday + weekday * day + 12 * hour))
  // 15 points from 85% are 0.36 on the scale of the blocks.
  const difference = average(noons.slice(0, 5)) - average(noons.slice(5))
  assert.ok(Math.abs(difference - 0.36) < 0.05, `${difference}`)
  for (const noon of noons.slice(0, 5)) assert.ok(Math.abs(noon - average(noons.slice(0, 5))) < 0.05, `${noons}`)
  assert.ok(Math.abs(average(noons)) < 1e-9, 'it is 0 on average')
})

test('blocks without the season have the same rate on weekdays and at weekends', () => {
  const { start, positive, negative } = votes(100, 10, weekends)
  const hours = start.map((at, i) => ({ start: at, positive: positive[i] as number, negative: negative[i] as number }))
  const sizes = blockSizes([hours])
  const spread = (season: ReturnType<typeof seasonOf>) => {
    const { y } = cutBlocks([hours], sizes, season)
    const mean = average([...y])
    return average([...y].map((each) => (each - mean) ** 2))
  }
  assert.ok(spread(seasonOf({ start, positive, negative })) < spread(null) / 2)
})

test('votes of fewer than five weeks have no season', () => {
  assert.equal(seasonOf(votes(28, 50, weekends)), null)
  assert.equal(seasonOf({ start: [], positive: [], negative: [] }), null)
})

test('votes without a pattern have no season, or one that moves the rate by less than a point', () => {
  for (let seed = 1; seed <= 20; seed++) {
    const season = seasonOf(votes(100, 6, () => 0.85, seed))
    const sizes = [0, 1, 2, 3, 4, 5, 6].map((weekday) => Math.abs(season?.(monday + (weekday + 0.5) * day) ?? 0))
    assert.ok(Math.max(...sizes) < 0.03, `${seed}: ${sizes}`)
  }
})

test('a steady decline is no season', () => {
  const season = seasonOf(votes(100, 10, (at) => 0.9 - 0.003 * at))
  const sizes = [0, 1, 2, 3, 4, 5, 6].map((weekday) => Math.abs(season?.(monday + (weekday + 0.5) * day) ?? 0))
  assert.ok(Math.max(...sizes) < 0.03, `${sizes}`)
})

test('one week with most of the votes is no season, however much its days differ', () => {
  const quiet = votes(100, 1, () => 0.85)
  for (let h = 24 * 50; h < 24 * 57; h++) {
    quiet.positive[h] = isWeekend(h / 24) ? 100 : 180
    quiet.negative[h] = isWeekend(h / 24) ? 100 : 20
  }
  assert.equal(seasonOf(quiet), null)
})

test('the season stays the same until another week is complete', () => {
  const all = votes(100, 10, weekends)
  const until = (days: number): HourlySums => ({
    start: all.start.slice(0, 24 * days),
    positive: all.positive.slice(0, 24 * days),
    negative: all.negative.slice(0, 24 * days),
  })
  // Weeks start on Thursdays, as the first day of 1970 was one.
  const at = (days: number) => seasonOf(until(days))?.(monday + 5.5 * day)
  assert.equal(at(73.5), at(79.5))
  assert.notEqual(at(79.5), at(80.5))
})

function average(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
