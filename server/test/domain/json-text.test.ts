import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { memberText, nestingDepth } from '../../src/domain/signals/json-text.ts'

test('memberText returns the exact source text of a member of any JSON object', () => {
  const object = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ stringUnit: 'binary' }), { minKeys: 1 })
  fc.assert(
    fc.property(object, fc.nat(), fc.constantFrom(undefined, 1, '\t', '\r\n '), (value, pick, indent) => {
      const name = Object.keys(value)[pick % Object.keys(value).length] as string
      const json = JSON.stringify(value, null, indent)
      const text = memberText(json, name)
      assert.ok(text !== undefined && json.includes(text))
      assert.deepEqual(JSON.parse(text), JSON.parse(json)[name])
      assert.equal(text, text.trim())
      assert.equal(memberText(json, `${name}?`), value[`${name}?`] === undefined ? undefined : text)
    }),
  )
})

test('nestingDepth counts objects and arrays, but not brackets in strings', () => {
  assert.equal(nestingDepth('1'), 0)
  assert.equal(nestingDepth('{}'), 1)
  assert.equal(nestingDepth('{"a":"[[[","b":"\\"{"}'), 1)
  assert.equal(nestingDepth('{"a":[{"b":[]}],"c":{}}'), 4)
})
