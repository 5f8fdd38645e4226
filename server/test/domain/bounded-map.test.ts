import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBoundedMap } from '../../src/domain/bounded-map.ts'

test('a bounded map forgets what was not used for longest, by weight', () => {
  const map = createBoundedMap<string>(10)
  map.set('a', 'A', 4)
  map.set('b', 'B', 4)
  assert.equal(map.get('a'), 'A')
  map.set('c', 'C', 4)
  assert.deepEqual([map.get('a'), map.get('b'), map.get('c')], ['A', undefined, 'C'])
  map.set('a', 'small', 1)
  map.set('d', 'D', 5)
  assert.deepEqual([map.get('a'), map.get('c'), map.get('d')], ['small', 'C', 'D'])
})

test('a bounded map does not keep a value that is too large, nor one that it replaces', () => {
  const map = createBoundedMap<string>(10)
  map.set('a', 'A')
  map.set('b', 'B')
  map.set('a', 'large', 11)
  assert.deepEqual([map.get('a'), map.get('b')], [undefined, 'B'])
})
