import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { differenceOf, rateOf, wilsonInterval } from '../../src/domain/impact/model/verdict.ts'
import type { Tally } from '../../src/domain/signals/tally.ts'
import { assertClose, count, noSignals, tally, tallyOf } from './tallies.ts'

// The expected values come from Python 3.11, statsmodels 0.15.0. Each test shows the command.

test('a rate is the share of positive signals, and null without signals', () => {
  assert.equal(rateOf(tallyOf(3, 1)), 0.75)
  assert.equal(rateOf(tallyOf(0, 7)), 0)
  assert.equal(rateOf(noSignals), null)
  assert.equal(wilsonInterval(noSignals), null)
})

test('the interval of a rate agrees with the Wilson interval of statsmodels', () => {
  // from statsmodels.stats.proportion import proportion_confint
  // for s, f in […]: print(s, f, [float(v) for v in proportion_confint(s, s + f, method='wilson')])
  const cases: [number, number, number, number][] = [
    [0, 10, 0, 0.27753279986288926],
    [1, 9, 0.017876213095072924, 0.40415002679523854],
    [8, 2, 0.49016247153664183, 0.9433178485456247],
    [10, 0, 0.7224672001371106, 1],
    [81, 182, 0.2552885198782742, 0.36620957698280004],
    [850, 150, 0.8265313415731996, 0.8707899274869118],
    [999_999, 1, 0.9999943350881957, 0.9999998234754233],
  ]
  for (const [positive, negative, low, high] of cases) {
    const interval = wilsonInterval(tallyOf(positive, negative))
    assertClose(interval?.[0], low, 1e-13)
    assertClose(interval?.[1], high, 1e-13)
  }
})

test('a rate lies within its interval, which reaches exactly 0 or 1 if all signals agree', () => {
  fc.assert(
    fc.property(tally, count, (some, more) => {
      const rate = rateOf(some)
      const [low, high] = wilsonInterval(some) ?? [0, 1]
      if (rate !== null) assert.ok(0 <= low && low <= rate && rate <= high && high <= 1)
      assert.equal(wilsonInterval(tallyOf(0, more + 1))?.[0], 0)
      assert.equal(wilsonInterval(tallyOf(more + 1, 0))?.[1], 1)
    }),
    { numRuns: 2_000 },
  )
})

test('the interval of a difference agrees with the Newcombe interval of statsmodels', () => {
  // from statsmodels.stats.proportion import confint_proportions_2indep
  // for a, b in […]: print(a, b, [float(v) for v in
  //   confint_proportions_2indep(b[0], sum(b), a[0], sum(a), method='newcomb', compare='diff')])
  // The first is also example (a) of Newcombe 1998, Statistics in Medicine 17, 873-890: 0.0524 to 0.3339.
  const cases: [Tally, Tally, number, number][] = [
    [tallyOf(48, 32), tallyOf(56, 14), 0.05243147240236498, 0.33387265403690614],
    [tallyOf(9, 1), tallyOf(3, 7), -0.809017973535488, -0.1705227239345029],
    [tallyOf(850, 150), tallyOf(750, 250), -0.13468218916063485, -0.06508810774964083],
    [tallyOf(0, 20), tallyOf(0, 10), -0.1611251580528194, 0.27753279986288926],
    [tallyOf(10, 0), tallyOf(0, 20), -1, -0.6790860371419145],
    [tallyOf(5, 51), tallyOf(0, 29), -0.19256001385511165, 0.038137147903536936],
    [tallyOf(85_000, 15_000), tallyOf(85_100, 14_900), -0.002125563463853755, 0.004125561623180127],
  ]
  for (const [before, after, low, high] of cases) {
    const comparison = differenceOf(before, after)
    assertClose(comparison?.interval[0], low, 1e-13)
    assertClose(comparison?.interval[1], high, 1e-13)
  }
})

test('a difference is the rate after minus the rate before, and null if a side has no signals', () => {
  assert.equal(differenceOf(tallyOf(1, 3), tallyOf(3, 1))?.difference, 0.5)
  assert.equal(differenceOf(noSignals, tallyOf(3, 1)), null)
  assert.equal(differenceOf(tallyOf(3, 1), noSignals), null)
  assert.equal(differenceOf(noSignals, noSignals), null)
})

test('a difference lies within its interval, and both change sign if the sides are swapped', () => {
  fc.assert(
    fc.property(tally, tally, (before, after) => {
      const comparison = differenceOf(before, after)
      if (comparison === null) return assert.ok(rateOf(before) === null || rateOf(after) === null)
      const [low, high] = comparison.interval
      assert.ok(-1 <= low && low <= comparison.difference && comparison.difference <= high && high <= 1)
      const mirrored = differenceOf(after, before)
      // Not deepEqual: 0 is mirrored to -0.
      assert.ok(mirrored?.difference === -comparison.difference)
      assert.ok(mirrored.interval[0] === -high && mirrored.interval[1] === -low)
    }),
    { numRuns: 2_000 },
  )
})
