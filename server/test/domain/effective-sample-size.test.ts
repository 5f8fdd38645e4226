import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { effectiveSampleSize, squaresAdded } from '../../src/domain/impact/model/effective-sample-size.ts'
import { tallyOf } from './tallies.ts'

test('voters with equally many votes count once each', () => {
  assert.equal(effectiveSampleSize(tallyOf(400, 100), 100 * 5 ** 2), 100)
  assert.equal(effectiveSampleSize(tallyOf(30, 20), 50 ** 2), 1)
  assert.equal(effectiveSampleSize(tallyOf(30, 20), 50), 50)
  assert.equal(effectiveSampleSize(tallyOf(0, 0), 0), 0)
})

test('what each vote adds, in any order, gives the sum of squares of the window', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(5), { maxLength: 100 }), (voters) => {
      const votes = new Map<number, number>()
      let sum = 0
      for (const voter of voters) {
        const earlier = votes.get(voter) ?? 0
        sum += squaresAdded(earlier)
        votes.set(voter, earlier + 1)
      }
      assert.equal(
        sum,
        votes.values().reduce((squares, count) => squares + count ** 2, 0),
      )
    }),
  )
})
