import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createFingerprint } from '../../src/domain/impact/model/fingerprint.ts'

function ofNumbers(numbers: number[]): string {
  const { add, text } = createFingerprint()
  for (const number of numbers) add(number)
  return text()
}

function ofIntegers(integers: number[]): string {
  const { addIntegers, text } = createFingerprint()
  addIntegers(integers)
  return text()
}

test('lists have the same fingerprint exactly if they are the same', () => {
  const number = fc.oneof(fc.integer({ min: 0, max: 5 }), fc.double({ noNaN: true }), fc.maxSafeNat())
  const integer = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer())
  const isSame = (a: number[], b: number[]) => a.length === b.length && a.every((each, i) => Object.is(each, b[i]))
  fc.assert(
    fc.property(fc.array(number), fc.array(number), (a, b) => {
      assert.equal(ofNumbers(a) === ofNumbers(b), isSame(a, b))
      assert.equal(ofNumbers(a), ofNumbers([...a]))
    }),
  )
  fc.assert(
    fc.property(fc.array(integer), fc.array(integer), (a, b) => {
      assert.equal(ofIntegers(a) === ofIntegers(b), isSame(a, b))
    }),
  )
})

test('a hundred thousand similar lists have different fingerprints', () => {
  const lists = Array.from({ length: 100_000 }, (_, i) => [i % 10, Math.floor(i / 10) % 100, Math.floor(i / 1_000)])
  assert.equal(new Set(lists.map(ofIntegers)).size, lists.length)
  assert.equal(new Set(lists.map(ofNumbers)).size, lists.length)
})
