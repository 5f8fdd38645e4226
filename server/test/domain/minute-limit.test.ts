import assert from 'node:assert/strict'
import { test } from 'node:test'
import { collectGarbage } from '../../../testing/garbage.ts'
import { createMinuteLimit } from '../../src/domain/minute-limit.ts'
import { minute } from '../../src/domain/time.ts'

test('a sender is limited for a minute after its first, however often others send', () => {
  let now = 0
  const limit = createMinuteLimit(2, 'too many', 1_000, () => now)
  limit.count('a')
  limit.count('a')
  for (now = 0; now < minute; now += 100) {
    limit.count(`other ${now}`)
    assert.throws(() => limit.count('a'), /too many/)
  }
  limit.count('a')
})

test('a full map forgets those that were silent for longest', () => {
  const limit = createMinuteLimit(1, 'too many', 4, () => 0)
  for (const sender of ['a', 'b', 'c']) limit.count(sender)
  assert.throws(() => limit.count('b'), /too many/)
  for (const sender of ['d', 'e']) limit.count(sender)
  limit.count('a')
})

test('senders that are silent for two minutes take no memory', () => {
  let now = 0
  const limit = createMinuteLimit(1, 'too many', 1_000_000, () => now)
  const usedBytes = () => {
    collectGarbage('major')
    return process.memoryUsage().heapUsed
  }
  const before = usedBytes()
  for (let i = 0; i < 50_000; i++) limit.count(`sender ${i}`)
  const full = usedBytes() - before
  for (const sender of ['a', 'b']) {
    now += minute
    limit.count(sender)
  }
  const left = usedBytes() - before
  assert.ok(left < full / 10, `${left} of ${full} bytes are left`)
})
