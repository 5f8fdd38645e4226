import assert from 'node:assert/strict'
import { test } from 'node:test'
import { positionOf } from '../../src/domain/trials/assignment.ts'

// The 99.9th percentile of chi-square with 99 degrees of freedom.
const limit = 148.2

function chiSquare(counts: readonly number[]): number {
  const expected = counts.reduce((sum, count) => sum + count) / counts.length
  return counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
}

test('a million units are spread evenly over all shares', () => {
  const counts = new Array<number>(100).fill(0)
  for (let i = 0; i < 1_000_000; i++) {
    const part = Math.floor(100 * positionOf('trl_even', `user-${i}`))
    counts[part] = (counts[part] as number) + 1
  }
  const found = chiSquare(counts)
  assert.ok(found < limit, `chi-square ${found.toFixed(1)}`)
})

test('the arm of a unit in one trial says nothing about its arm in another', () => {
  const counts = new Array<number>(100).fill(0)
  for (let i = 0; i < 100_000; i++) {
    const [first, second] = ['trl_1', 'trl_2'].map((trial) => Math.floor(10 * positionOf(trial, `user-${i}`)))
    const cell = 10 * (first as number) + (second as number)
    counts[cell] = (counts[cell] as number) + 1
  }
  const found = chiSquare(counts)
  assert.ok(found < limit, `chi-square ${found.toFixed(1)}`)
})
