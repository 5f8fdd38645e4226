import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../../testing/random.ts'
import type { Sum } from '../../src/domain/impact/model/blocks.ts'
import { defaultDrift } from '../../src/domain/impact/model/drift.ts'
import type { ComparedSegment } from '../../src/domain/impact/reading/compared-segments.ts'
import { judgeSegments } from '../../src/domain/impact/segment-impact.ts'

const random = seededRandom(1)

function votes(count: number, rate: number, start: number): Sum[] {
  return Array.from({ length: count }, (_, i) => {
    const positive = random() < rate ? 1 : 0
    return { start: start + i, positive, negative: 1 - positive, squares: 1 }
  })
}

function segment(value: string, from: number, to: number): ComparedSegment {
  return { value, isOther: false, before: votes(400, from, 0), after: votes(400, to, 1_000) }
}

test('a segment that would be worse alone needs more votes among 20, and falls together need no more than one', () => {
  const calm = Array.from({ length: 19 }, (_, i) => segment(`${i}`, 0.85, 0.85))
  const fallen = segment('fallen', 0.85, 0.68)
  const [alone] = judgeSegments([fallen], defaultDrift)
  assert.equal(alone?.verdict, 'worse')
  const among = judgeSegments([fallen, ...calm], defaultDrift)
  assert.equal(among[0]?.verdict, 'too_little_data')
  assert.match(
    among[0]?.explanation ?? '',
    /Among 20 segments, one that differs this much is not rare without any effect/,
  )
  const all = judgeSegments([fallen, ...calm.map(({ value }) => segment(`${value}`, 0.85, 0.68))], defaultDrift)
  assert.ok(all.filter(({ verdict }) => verdict === 'worse').length >= 15)
})
