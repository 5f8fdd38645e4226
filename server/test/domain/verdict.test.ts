import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { type Change, everCalled, intervalCalls, verdictsOn } from '../../../testing/simulation.ts'
import { logBeta, logGamma } from '../../src/domain/impact/beta.ts'
import {
  differenceOf,
  logBayesFactor,
  rateOf,
  type Verdict,
  verdictOf,
  verdicts,
  wilsonInterval,
} from '../../src/domain/impact/verdict.ts'
import type { Tally } from '../../src/domain/signals/tally.ts'

// The figures below were made with Python 3.11, scipy 1.17.1, statsmodels 0.15.0; each test has the command.

const count = fc.oneof(fc.nat(50), fc.nat(5_000), fc.nat(1_000_000_000))
const tally = fc.record({ positive: count, negative: count })
const noneAtAll = tallyOf(0, 0)

function tallyOf(positive: number, negative: number): Tally {
  return { positive, negative }
}

function assertClose(actual: number | undefined, expected: number, tolerance: number): void {
  assert.ok(actual !== undefined)
  assert.ok(Math.abs(actual - expected) <= tolerance * Math.max(1, Math.abs(expected)), `${actual}, not ${expected}`)
}

describe('The logarithm of the gamma function', () => {
  test("agrees with scipy's", () => {
    // from scipy.special import gammaln, betaln
    // for x in [.5, 1, 1.5, 2.5, 3, 9.5, 10, 37.5, 1000.5, 123456.5, 1e9 + .5]: print(x, float(gammaln(x)))
    const figures: [number, number][] = [
      [0.5, 0.5723649429247],
      [1, 0],
      [1.5, -0.12078223763524526],
      [2.5, 0.2846828704729192],
      [3, Math.LN2],
      [9.5, 11.689333420797269],
      [10, 12.801827480081469],
      [37.5, 97.52177522288821],
      [1000.5, 5908.674175848678],
      [123456.5, 1323898.630662737],
      [1000000000.5, 19723265837.86535],
    ]
    for (const [x, expected] of figures) assertClose(logGamma(x), expected, 1e-13)
    // for a, b in [(.5, .5), (3.5, .5), (850.5, 150.5)]: print(a, b, float(betaln(a, b)))
    assertClose(logBeta(0.5, 0.5), 1.1447298858494, 1e-13)
    assertClose(logBeta(3.5, 0.5), -0.018420923956280727, 1e-13)
    assertClose(logBeta(850.5, 150.5), -425.24443704226996, 1e-13)
  })

  test('grows by log x from x to x + 1, however large or small', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.01, max: 1e6, noNaN: true }), (x) => {
        const tolerance = 1e-13 * Math.max(1, Math.abs(logGamma(x)))
        assert.ok(Math.abs(logGamma(x + 1) - logGamma(x) - Math.log(x)) <= tolerance)
      }),
    )
  })
})

describe('A rate', () => {
  test('is the part of the signals that is positive, and nothing where there are none', () => {
    assert.equal(rateOf(tallyOf(3, 1)), 0.75)
    assert.equal(rateOf(tallyOf(0, 7)), 0)
    assert.equal(rateOf(noneAtAll), null)
    assert.equal(wilsonInterval(noneAtAll), null)
  })

  test("has Wilson's interval, as statsmodels has it", () => {
    // from statsmodels.stats.proportion import proportion_confint
    // for s, f in […]: print(s, f, [float(v) for v in proportion_confint(s, s + f, method='wilson')])
    const figures: [number, number, number, number][] = [
      [0, 10, 0, 0.27753279986288926],
      [1, 9, 0.017876213095072924, 0.40415002679523854],
      [8, 2, 0.49016247153664183, 0.9433178485456247],
      [10, 0, 0.7224672001371106, 1],
      [81, 182, 0.2552885198782742, 0.36620957698280004],
      [850, 150, 0.8265313415731996, 0.8707899274869118],
      [999_999, 1, 0.9999943350881957, 0.9999998234754233],
    ]
    for (const [positive, negative, low, high] of figures) {
      const interval = wilsonInterval(tallyOf(positive, negative))
      assertClose(interval?.[0], low, 1e-13)
      assertClose(interval?.[1], high, 1e-13)
    }
  })

  test('lies in its interval, which reaches 0 or 1 exactly where all signals agree', () => {
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
})

describe('A difference', () => {
  test("has Newcombe's interval, as statsmodels has it", () => {
    // from statsmodels.stats.proportion import confint_proportions_2indep
    // for a, b in […]: print(a, b, [float(v) for v in
    //   confint_proportions_2indep(b[0], sum(b), a[0], sum(a), method='newcomb', compare='diff')])
    // The first is also example (a) of Newcombe 1998, Statistics in Medicine 17, 873-890: 0.0524 to 0.3339.
    const figures: [Tally, Tally, number, number][] = [
      [tallyOf(48, 32), tallyOf(56, 14), 0.05243147240236498, 0.33387265403690614],
      [tallyOf(9, 1), tallyOf(3, 7), -0.809017973535488, -0.1705227239345029],
      [tallyOf(850, 150), tallyOf(750, 250), -0.13468218916063485, -0.06508810774964083],
      [tallyOf(0, 20), tallyOf(0, 10), -0.1611251580528194, 0.27753279986288926],
      [tallyOf(10, 0), tallyOf(0, 20), -1, -0.6790860371419145],
      [tallyOf(5, 51), tallyOf(0, 29), -0.19256001385511165, 0.038137147903536936],
      [tallyOf(85_000, 15_000), tallyOf(85_100, 14_900), -0.002125563463853755, 0.004125561623180127],
    ]
    for (const [before, after, low, high] of figures) {
      const seen = differenceOf(before, after)
      assertClose(seen?.interval[0], low, 1e-13)
      assertClose(seen?.interval[1], high, 1e-13)
    }
  })

  test('is that of the rates, after less before, and nothing where a side has no signals', () => {
    assert.equal(differenceOf(tallyOf(1, 3), tallyOf(3, 1))?.difference, 0.5)
    assert.equal(differenceOf(noneAtAll, tallyOf(3, 1)), null)
    assert.equal(differenceOf(tallyOf(3, 1), noneAtAll), null)
    assert.equal(differenceOf(noneAtAll, noneAtAll), null)
  })

  test('lies in its interval, which lies between -1 and 1 and is mirrored when the sides are swapped', () => {
    fc.assert(
      fc.property(tally, tally, (before, after) => {
        const seen = differenceOf(before, after)
        if (seen === null) return assert.ok(rateOf(before) === null || rateOf(after) === null)
        const [low, high] = seen.interval
        assert.ok(-1 <= low && low <= seen.difference && seen.difference <= high && high <= 1)
        const mirrored = differenceOf(after, before)
        // Not deepEqual: 0 is mirrored to -0.
        assert.ok(mirrored?.difference === -seen.difference)
        assert.ok(mirrored.interval[0] === -high && mirrored.interval[1] === -low)
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('The Bayes factor', () => {
  test('agrees with the integrals that define it, taken by scipy', () => {
    // from scipy.integrate import quad
    // from numpy import sin, cos, log, pi, exp, sqrt, arcsin
    // def log_likelihood(s, f):  # rate = sin(phi)^2 turns Beta(1/2, 1/2) into a uniform distribution of phi
    //     m = arcsin(sqrt(s / (s + f)))
    //     def l(phi): return (2 * s * log(sin(phi)) if s else 0) + (2 * f * log(cos(phi)) if f else 0)
    //     w = 12 / sqrt(4 * (s + f))
    //     lo, hi = max(0, m - w), min(pi / 2, m + w)
    //     return l(m) + log(quad(lambda phi: exp(l(phi) - l(m)), lo, hi, epsabs=0, epsrel=1e-13)[0] * 2 / pi)
    // for a, b in […]: print(a, b, log_likelihood(*a) + log_likelihood(*b) - log_likelihood(a[0] + b[0], a[1] + b[1]))
    const figures: [Tally, Tally, number][] = [
      [tallyOf(1, 0), tallyOf(0, 1), Math.LN2],
      [tallyOf(0, 5), tallyOf(5, 0), 5.529429087511424],
      [tallyOf(9, 1), tallyOf(3, 7), 3.002335681783439],
      [tallyOf(48, 32), tallyOf(56, 14), 1.5500391665912616],
      [tallyOf(850, 150), tallyOf(750, 250), 12.426975439298303],
      [tallyOf(850, 150), tallyOf(800, 200), 1.0077049798586586],
      [tallyOf(500, 500), tallyOf(5_000, 5_000), -3.632266174920005],
      [tallyOf(85_000, 15_000), tallyOf(85_100, 14_900), -5.439067792831338],
    ]
    for (const [before, after, expected] of figures) assertClose(logBayesFactor(before, after), expected, 1e-9)
  })

  test('averages 1 over the next signal if there is no effect, whichever side it falls on: so looking costs nothing', () => {
    // What Ville's inequality rests on: under one common rate, with what was seen so far, the next look is a fair bet.
    const few = fc.record({ positive: fc.nat(2_000), negative: fc.nat(2_000) })
    fc.assert(
      fc.property(few, few, fc.boolean(), (before, after, isAfter) => {
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
})

describe('The verdict', () => {
  test('says better or worse where the evidence is twentyfold, from 20 signals on each side on', () => {
    assert.equal(verdictOf(tallyOf(850, 150), tallyOf(750, 250)), 'worse')
    assert.equal(verdictOf(tallyOf(750, 250), tallyOf(850, 150)), 'better')
    // 3.1757 and 2.9803 by the integrals above, where log 20 is 2.9957.
    assert.equal(verdictOf(tallyOf(850, 150), tallyOf(788, 212)), 'worse')
    assert.equal(verdictOf(tallyOf(850, 150), tallyOf(789, 211)), 'no_difference_seen')
    assert.equal(verdictOf(tallyOf(0, 19), tallyOf(500, 0)), 'too_little_data')
    assert.equal(verdictOf(tallyOf(500, 0), tallyOf(0, 19)), 'too_little_data')
    assert.equal(verdictOf(tallyOf(0, 20), tallyOf(20, 0)), 'better')
  })

  test('says that no difference was seen only where one of 10 points or more is outside the interval', () => {
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

  test('is too little data where a side has no signals', () => {
    fc.assert(
      fc.property(tally, (some) => {
        assert.equal(verdictOf(noneAtAll, some), 'too_little_data')
        assert.equal(verdictOf(some, noneAtAll), 'too_little_data')
      }),
    )
  })

  test('is never at odds with the interval, and no large factor is lost to that', () => {
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

  test('is mirrored when the sides are swapped, or positive and negative', () => {
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

  test('stays the same with more of the same, and better with more that is positive', () => {
    const few = fc.record({ positive: fc.nat(300), negative: fc.nat(300) })
    const times = ({ positive, negative }: Tally, factor: number) => tallyOf(positive * factor, negative * factor)
    fc.assert(
      fc.property(few, few, fc.integer({ min: 2, max: 1_000 }), (before, after, factor) => {
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

  test('is found from any counts up to a billion', () => {
    const extreme = fc.record({
      positive: fc.constantFrom(0, 1, 19, 20, 1e9),
      negative: fc.constantFrom(0, 1, 20, 1e9),
    })
    const either = fc.oneof(tally, extreme)
    fc.assert(
      fc.property(either, either, (before, after) => {
        assert.ok(Number.isFinite(logBayesFactor(before, after)))
        assert.ok(verdicts.includes(verdictOf(before, after)))
        const seen = differenceOf(before, after)
        if (seen !== null) assert.ok([seen.difference, ...seen.interval].every(Number.isFinite))
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('Whoever looks after every 20 signals up to 5,000, without any effect,', () => {
  const rates = [0.05, 0.2, 0.5, 0.8, 0.95]
  const histories = 2_000
  const changes: [string, Change][] = [
    ['after 20 signals', 20],
    ['after 200 signals', 200],
    ['after 1,000 signals', 1_000],
    ['after 2,500 signals', 2_500],
    ['because the signals looked bad', 'bad'],
    ['while the window before goes on growing', 'both'],
  ]

  for (const [when, change] of changes) {
    test(`sees better or worse in at most 5 % of 2,000 histories at any rate, the change being made ${when}`, () => {
      for (const rate of rates) {
        const called = everCalled({ rate, change, histories, seed: 100 * rate })
        assert.ok(called <= 0.05 * histories, `${called} at ${rate}`)
      }
    })
  }

  test('would be misled by the interval alone: the simulation can tell', () => {
    const called = everCalled({ rate: 0.5, change: 1_000, histories, seed: 1, calls: intervalCalls })
    assert.ok(called > 0.15 * histories, `${called}`)
  })
})

describe('A real change', () => {
  test('from 85 % to 75 % is called worse in at least 90 % with 1,000 signals on each side, the other way round better', () => {
    const histories = 2_000
    const fall = verdictsOn([0.85, 1_000], [0.75, 1_000], histories, 1)
    assert.ok(fall.worse >= 0.9 * histories && fall.better === 0, JSON.stringify(fall))
    const rise = verdictsOn([0.75, 1_000], [0.85, 1_000], histories, 2)
    assert.ok(rise.better >= 0.9 * histories && rise.worse === 0, JSON.stringify(rise))
  })

  test('is found in 9 of 10 histories with as many signals as docs/impact.md says', () => {
    // The documentation's table, from a rate to one so many points lower.
    for (const [rate, points, needed] of [
      [0.95, 10, 380],
      [0.85, 20, 200],
      [0.85, 5, 2_900],
      [0.5, 10, 1_200],
      [0.5, 2, 36_000],
    ] as const) {
      const { worse } = verdictsOn([rate, needed], [rate - points / 100, needed], 2_000, 3)
      assert.ok(worse >= 0.88 * 2_000, `${worse} of 2,000 for ${points} points from ${rate}`)
    }
  })
})
