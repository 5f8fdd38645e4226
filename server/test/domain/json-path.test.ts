import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parsePath, valueAt } from '../../src/domain/sources/json-path.ts'

describe('Paths in events', () => {
  test('a path selects one value by names and indexes', () => {
    const event = { data: { items: [{ 'user score': 1, "it's": 2, $ai: 3 }] }, ok: false }
    assert.equal(valueAt(event, '$.ok'), false)
    assert.equal(valueAt(event, "$.data.items[0]['user score']"), 1)
    assert.equal(valueAt(event, "$['data'].items[0]['it\\'s']"), 2)
    assert.equal(valueAt(event, '$.data.items[0].$ai'), 3)
    assert.equal(valueAt(event, '$'), event)
    assert.equal(valueAt(event, '$.data.items[1].x'), undefined)
    assert.equal(valueAt('text', '$.length'), undefined)
  })

  test('members that every object inherits are not selected', () => {
    for (const path of ['$.constructor', '$.__proto__', '$.items.length.toString']) {
      assert.equal(valueAt({ items: {} }, path), undefined, path)
    }
  })

  test('a path that could select many values, or none that is known, is malformed', () => {
    const malformed = [
      '',
      'rating',
      '$..rating',
      '$.*',
      '$[*]',
      '$[0:2]',
      '$[?@.a]',
      '$.a.',
      '$[-1]',
      "$['a",
      '$.a b',
      '$ .a',
    ]
    for (const path of malformed) assert.equal(parsePath(path), null, path)
    assert.equal(parsePath(`$${'.a'.repeat(33)}`), null)
  })
})
