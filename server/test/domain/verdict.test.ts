import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  differenceOf,
  logBayesFactor,
  type Verdict,
  verdictOf,
  verdicts,
} from '../../src/domain/impact/model/verdict.ts'
import type { Tally } from '../../src/domain/signals/tally.ts'
import { assertClose, noSignals, tally, tallyOf } from './tallies.ts'

// The expected values come from Python 3.11 and scipy 1.17.1, by the code in the test.

test('the Bayes factor agrees with the integrals that define it, computed by scipy', () => {
  // from scipy.integrate import quad
  // from numpy import sin, cos, log, pi, exp, sqrt, arcsin
  // def log_likelihood(s, f):  # rate = sin(phi)^2 turns Beta(1/2, 1/2) into a uniform distribution of phi
  //     m = arcsin(sqrt(s / (s + f)))
  //     def l(phi): return (2 * s * log(sin(phi)) if s else 0) + (2 * f * log(cos(phi)) if f else 0)
  //     w = 12 / sqrt(4 * (s + f))
  //     lo, hi = max(0, m - w), min(pi / 2, m + w)
  //     return l(m) + log(quad(lambda phi: exp(l(phi) - l(m)), lo, hi, epsabs=0, epsrel=1e-13)[0] * 2 / pi)
  // for a, b in […]: print(a, b, log_likelihood(*a) + log_likelihood(*b) - log_likelihood(a[0] + b[0], a[1] + b[1]))
  const cases: [Tally, Tally, number][] = [
    [tallyOf(1, 0), tallyOf(0, 1), Math.LN2],
    [tallyOf(0, 5), tallyOf(5, 0), 5.529429087511424],
    [tallyOf(9, 1), tallyOf(3, 7), 3.002335681783439],
    [tallyOf(48, 32), tallyOf(56, 14), 1.5500391665912616],
    [tallyOf(850, 150), tallyOf(750, 250), 12.426975439298303],
    [tallyOf(850, 150), tallyOf(800, 200), 1.0077049798586586],
    [tallyOf(500, 500), tallyOf(5_000, 5_000), -3.632266174920005],
    [tallyOf(85_000, 15_000), tallyOf(85_100, 14_900), -5.439067792831338],
  ]
  for (const [before, after, expected] of cases) assertClose(logBayesFactor(before, after), expected, 1e-9)
})

test('without an effect, the next signal leaves the expected Bayes factor unchanged, so repeated checks are safe', () => {
  // The precondition of Ville's inequality: under one common rate, given the signals so far, the factor is a martingale.
  const smallTally = fc.record({ positive: fc.nat(2_000), negative: fc.nat(2_000) })
  fc.assert(
    fc.property(smallTally, smallTally, fc.boolean(), (before, after, isAfter) => {
      const positive = before.positive + after.positive
      const chance = (positive + 0.5) / (positive + before.negative + after.negative + 1)
      const next = (up: number) => {
        const more = (one: Tally) => tallyOf(one.positive + up, one.negative + 1 - up)
        return logBayesFactor(isAfter ? before : more(before), isAfter ? more(after) : after)
      }
      const now = logBayesFactor(before, after)
      assertClose(chance * Math.exp(next(1) - now) + (1 - chance) * Math.exp(next(0) - now), 1, 1e-9)
    }),
  )
})

test('the verdict is better or worse from a Bayes factor of 20 and 20 signals on each side', () => {
  assert.equal(verdictOf(tallyOf(850, 150), tallyOf(750, 250)), 'worse')
  assert.equal(verdictOf(tallyOf(750, 250), tallyOf(850, 150)), 'better')
  // By the integrals above, the log factors are 3.1757 and 2.9803. The threshold, log 20, is 2.9957.
  assert.equal(verdictOf(tallyOf(850, 150), tallyOf(788, 212)), 'worse')
  assert.equal(verdictOf(tallyOf(850, 150), tallyOf(789, 211)), 'no_difference_seen')
  assert.equal(verdictOf(tallyOf(0, 19), tallyOf(500, 0)), 'too_little_data')
  assert.equal(verdictOf(tallyOf(500, 0), tallyOf(0, 19)), 'too_little_data')
  assert.equal(verdictOf(tallyOf(0, 20), tallyOf(20, 0)), 'better')
})

test('the verdict is "no clear difference" only if the interval excludes differences of 10 points or more', () => {
  assert.equal(verdictOf(tallyOf(8_500, 1_500), tallyOf(8_500, 1_500)), 'no_difference_seen')
  assert.equal(verdictOf(tallyOf(85, 15), tallyOf(85, 15)), 'too_little_data')
  fc.assert(
    fc.property(tally, tally, (before, after) => {
      const verdict = verdictOf(before, after)
      const [low, high] = differenceOf(before, after)?.interval ?? [-1, 1]
      if (verdict === 'no_difference_seen') assert.ok(-0.1 <= low && high <= 0.1)
      if (
        verdict === 'too_little_data' &&
        before.positive + before.negative >= 20 &&
        after.positive + after.negative >= 20
      ) {
        assert.ok(low < -0.1 || high > 0.1)
      }
    }),
    { numRuns: 2_000 },
  )
})

test('the verdict is "not enough data yet" if a side has no signals', () => {
  fc.assert(
    fc.property(tally, (some) => {
      assert.equal(verdictOf(noSignals, some), 'too_little_data')
      assert.equal(verdictOf(some, noSignals), 'too_little_data')
    }),
  )
})

test('the verdict never contradicts the interval, and every large Bayes factor has an interval without 0', () => {
  fc.assert(
    fc.property(tally, tally, (before, after) => {
      const [low, high] = differenceOf(before, after)?.interval ?? [0, 0]
      const verdict = verdictOf(before, after)
      assert.ok(verdict !== 'better' || low > 0)
      assert.ok(verdict !== 'worse' || high < 0)
      if (logBayesFactor(before, after) >= Math.log(20)) assert.ok(low > 0 || high < 0)
    }),
    { numRuns: 2_000 },
  )
})

test('the verdict is reversed if the sides are swapped, or positive and negative', () => {
  const opposite = (verdict: Verdict) => (verdict === 'better' ? 'worse' : verdict === 'worse' ? 'better' : verdict)
  const negated = ({ positive, negative }: Tally) => tallyOf(negative, positive)
  fc.assert(
    fc.property(tally, tally, (before, after) => {
      const mirrored = opposite(verdictOf(before, after))
      assert.equal(verdictOf(after, before), mirrored)
      assert.equal(verdictOf(negated(before), negated(after)), mirrored)
    }),
    { numRuns: 2_000 },
  )
})

test('more signals at the same rates keep a verdict, and more positive signals after the change keep it better', () => {
  const smallTally = fc.record({ positive: fc.nat(300), negative: fc.nat(300) })
  const times = ({ positive, negative }: Tally, factor: number) => tallyOf(positive * factor, negative * factor)
  fc.assert(
    fc.property(smallTally, smallTally, fc.integer({ min: 2, max: 1_000 }), (before, after, factor) => {
      const verdict = verdictOf(before, after)
      if (verdict === 'better' || verdict === 'worse') {
        assert.equal(verdictOf(times(before, factor), times(after, factor)), verdict)
      }
      if (verdict === 'better') {
        assert.equal(verdictOf(before, tallyOf(after.positive + factor, after.negative)), 'better')
        assert.equal(verdictOf(tallyOf(before.positive, before.negative + factor), after), 'better')
      }
    }),
    { numRuns: 2_000 },
  )
})

test('the verdict is defined for all counts up to a billion', () => {
  const extreme = fc.record({
    positive: fc.constantFrom(0, 1, 19, 20, 1e9),
    negative: fc.constantFrom(0, 1, 20, 1e9),
  })
  const either = fc.oneof(tally, extreme)
  fc.assert(
    fc.property(either, either, (before, after) => {
      assert.ok(Number.isFinite(logBayesFactor(before, after)))
      assert.ok(verdicts.includes(verdictOf(before, after)))
      const comparison = differenceOf(before, after)
      if (comparison !== null) assert.ok([comparison.difference, ...comparison.interval].every(Number.isFinite))
    }),
    { numRuns: 2_000 },
  )
})
