import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { isSecret, newSecret } from '../../src/domain/access/api-key.ts'
import { newPrompt } from '../../src/domain/prompt.ts'
import { memberText, nestingDepth } from '../../src/domain/signals/json-text.ts'
import { hourStart, isoTime, monthStart, nextMonthStart, parseTime } from '../../src/domain/time.ts'

describe('A key', () => {
  test('has the promised shape and carries its own checksum', () => {
    for (let i = 0; i < 200; i++) {
      const secret = newSecret()
      assert.match(secret, /^plk_[0-9A-Za-z]{49}$/)
      assert.ok(isSecret(secret))
    }
  })

  test('is told from one with any character changed', () => {
    const characters = [...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz']
    const secret = newSecret()
    fc.assert(
      fc.property(fc.integer({ min: 4, max: 52 }), fc.constantFrom(...characters), (at, character) => {
        const changed = secret.slice(0, at) + character + secret.slice(at + 1)
        assert.equal(isSecret(changed), changed === secret)
      }),
    )
  })
})

test('A prompt gets an ID with the prefix pmt_ that nobody can guess', () => {
  const ids = new Set(Array.from({ length: 1_000 }, () => newPrompt(1, 'a', 0).publicId))
  assert.equal(ids.size, 1_000)
  for (const id of ids) assert.match(id, /^pmt_[0-9A-Za-z]{24}$/)
})

describe('memberText', () => {
  test('gives the text of a member as it stands in any JSON object', () => {
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
})

describe('nestingDepth', () => {
  test('counts objects and arrays, not brackets in strings', () => {
    assert.equal(nestingDepth('1'), 0)
    assert.equal(nestingDepth('{}'), 1)
    assert.equal(nestingDepth('{"a":"[[[","b":"\\"{"}'), 1)
    assert.equal(nestingDepth('{"a":[{"b":[]}],"c":{}}'), 4)
  })
})

describe('Time', () => {
  test('begins a month and an hour with their first millisecond, UTC', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4_102_444_800_000 }), (at) => {
        assert.match(isoTime(monthStart(at)), /-01T00:00:00\.000Z$/)
        assert.ok(monthStart(at) <= at && at < nextMonthStart(at))
        assert.equal(monthStart(nextMonthStart(at)), nextMonthStart(at))
        assert.match(isoTime(hourStart(at)), /:00:00\.000Z$/)
        assert.ok(hourStart(at) <= at && at - hourStart(at) < 3_600_000)
      }),
    )
  })

  test('is read only where it can be read in one way', () => {
    assert.equal(parseTime('at', '2026-11-15T09:30:00Z'), Date.UTC(2026, 10, 15, 9, 30))
    assert.equal(parseTime('at', '2026-11-15T09:30:00.123456+02:00'), Date.UTC(2026, 10, 15, 7, 30, 0, 123))
    const wrong = [
      '',
      'now',
      '2026-11-15',
      '2026-11-15T09:30:00',
      '2026-02-30T00:00:00Z',
      '2026-13-01T00:00:00Z',
      '15/11/2026',
      '1763199000',
      '1969-12-31T00:00:00Z',
      '2026-11-15T25:00:00Z',
      '9999-12-31T23:59:59-12:00',
    ]
    for (const text of wrong) assert.throws(() => parseTime('at', text), /at must be an ISO 8601 time/, text)
  })
})
