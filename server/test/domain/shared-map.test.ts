import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createSharedMap } from '../../src/domain/shared-map.ts'

describe('A map that owners share', () => {
  test('an owner that exceeds its limit loses what it used longest ago, and nothing of the others', () => {
    const map = createSharedMap<string>(100, 10)
    map.set(1, 'a', 'of 1', 8)
    for (const key of ['a', 'b']) map.set(2, key, key, 5)
    assert.equal(map.get(2, 'a'), 'a')
    map.set(2, 'c', 'c', 5)
    assert.deepEqual(
      ['a', 'b', 'c'].map((key) => map.get(2, key)),
      ['a', undefined, 'c'],
    )
    assert.equal(map.get(1, 'a'), 'of 1')
    map.set(2, 'd', 'too heavy', 11)
    assert.equal(map.get(2, 'd'), undefined)
  })

  test('where all together exceed the limit, the owner with the most loses, and those with little keep it', () => {
    const map = createSharedMap<string>(20, 15)
    map.set(1, 'small', 'small', 1)
    map.set(2, 'large', 'large', 12)
    map.set(3, 'medium', 'medium', 8)
    assert.equal(map.get(1, 'small'), 'small')
    assert.equal(map.get(2, 'large'), undefined)
    assert.equal(map.get(3, 'medium'), 'medium')
    map.delete(3, 'medium')
    map.set(2, 'large', 'again', 15)
    assert.deepEqual([map.get(1, 'small'), map.get(2, 'large')], ['small', 'again'])
  })
})
