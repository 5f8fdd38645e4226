import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { logBeta, logGamma } from '../../src/domain/impact/model/beta.ts'
import { assertClose } from './tallies.ts'

// The expected values come from Python 3.11 and scipy 1.17.1. The test shows the commands.

test('the log gamma and log beta functions agree with scipy', () => {
  // from scipy.special import gammaln, betaln
  // for x in [.5, 1, 1.5, 2.5, 3, 9.5, 10, 37.5, 1000.5, 123456.5, 1e9 + .5]: print(x, float(gammaln(x)))
  const cases: [number, number][] = [
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
  for (const [x, expected] of cases) assertClose(logGamma(x), expected, 1e-13)
  // for a, b in [(.5, .5), (3.5, .5), (850.5, 150.5)]: print(a, b, float(betaln(a, b)))
  assertClose(logBeta(0.5, 0.5), 1.1447298858494, 1e-13)
  assertClose(logBeta(3.5, 0.5), -0.018420923956280727, 1e-13)
  assertClose(logBeta(850.5, 150.5), -425.24443704226996, 1e-13)
})

test('logGamma(x + 1) equals logGamma(x) + log x for small and large x', () => {
  fc.assert(
    fc.property(fc.double({ min: 0.01, max: 1e6, noNaN: true }), (x) => {
      const tolerance = 1e-13 * Math.max(1, Math.abs(logGamma(x)))
      assert.ok(Math.abs(logGamma(x + 1) - logGamma(x) - Math.log(x)) <= tolerance)
    }),
  )
})
