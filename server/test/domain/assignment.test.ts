import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { armOf, positionOf } from '../../src/domain/trials/assignment.ts'

interface Vector {
  trial: string
  unit: string
  position: number
  share: number
  arm: string
}

const vectors: Vector[] = JSON.parse(
  readFileSync(new URL('../../../examples/assignment-vectors.json', import.meta.url), 'utf8'),
)

test('the arm of each unit is the one that the examples in other languages compute', () => {
  assert.ok(vectors.length > 20)
  for (const { trial, unit, position, share, arm } of vectors) {
    assert.equal(positionOf(trial, unit), position)
    assert.equal(armOf(trial, unit, share), arm)
  }
})

test('raising the share only moves units from the control to the candidate', () => {
  const share = fc.double({ min: 0, max: 1, noNaN: true })
  fc.assert(
    fc.property(fc.string(), fc.string(), share, share, (trial, unit, a, b) => {
      const [low, high] = a < b ? [a, b] : [b, a]
      assert.ok(armOf(trial, unit, low) === 'control' || armOf(trial, unit, high) === 'candidate')
    }),
  )
})

test('a share of 0% has no candidate and a share of 100% no control', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (trial, unit) => {
      assert.equal(armOf(trial, unit, 0), 'control')
      assert.equal(armOf(trial, unit, 1), 'candidate')
    }),
  )
})
