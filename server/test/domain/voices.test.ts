import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { squaresAdded, squaresOf, voiced, voicesOf } from '../../src/domain/impact/voices.ts'
import { assertClose, tallyOf } from './tallies.ts'

test('voters with equally many votes count once each', () => {
  assert.equal(voicesOf(tallyOf(400, 100), squaresOf(Array(100).fill(5))), 100)
  assert.equal(voicesOf(tallyOf(30, 20), squaresOf([50])), 1)
  assert.equal(voicesOf(tallyOf(30, 20), squaresOf([], 50)), 50)
  assert.equal(voicesOf(tallyOf(0, 0), 0), 0)
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
      assert.equal(sum, squaresOf(votes.values()))
    }),
  )
})

test('counting voices keeps the rate', () => {
  const { positive, negative } = voiced(tallyOf(400, 100), 2_500)
  assertClose(positive, 80, 1e-12)
  assertClose(negative, 20, 1e-12)
})
