import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { hourStart, isoTime, monthStart, nextMonthStart, parseTime } from '../../src/domain/time.ts'

test('months and hours start at their first millisecond, UTC', () => {
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

test('a time is accepted only if it is unambiguous and in range', () => {
  assert.equal(parseTime('at', '2026-11-15T09:30:00Z'), Date.UTC(2026, 10, 15, 9, 30))
  assert.equal(parseTime('at', '2026-11-15T09:30:00.123456+02:00'), Date.UTC(2026, 10, 15, 7, 30, 0, 123))
  const invalid = [
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
  for (const text of invalid) {
    assert.throws(() => parseTime('at', text), { code: 'validation_error', field: 'at', problem: /ISO 8601/ }, text)
  }
})
