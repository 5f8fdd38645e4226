import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { cutBlocks, rateAt, type Sum } from '../../src/domain/impact/model/blocks.ts'
import { hour } from '../../src/domain/time.ts'
import { assertClose } from './tallies.ts'

const counts = fc.array(fc.record({ positive: fc.nat(30), negative: fc.nat(30) }), { maxLength: 60 })

function hours(tallies: { positive: number; negative: number }[], first = 0): Sum[] {
  return tallies.map((tally, i) => ({ start: (first + i) * hour, ...tally }))
}

test('a block has at least 20 votes and never spans a change', () => {
  fc.assert(
    fc.property(counts, counts, (before, after) => {
      const windows = [hours(before), hours(after, 100)]
      const { count, window, start, variance } = cutBlocks(windows)
      for (let t = 0; t < count; t++) {
        assert.equal(window[t], (start[t] as number) >= 100 * hour ? 1 : 0)
        const isLast = t === count - 1
        // The sampling variance of n votes is 1 / (n + 1/2).
        assert.ok((variance[t] as number) <= 1 / ((isLast ? 10 : 20) + 0.5) + 1e-12)
      }
    }),
  )
})

test('votes that arrive later leave the complete blocks as they are', () => {
  fc.assert(
    fc.property(counts, counts, (before, after) => {
      const windows = [hours(before), hours(after, 100)]
      const earlier = cutBlocks([windows[0] as Sum[], (windows[1] as Sum[]).slice(0, -1)])
      const later = cutBlocks(windows)
      // The last block may still grow.
      const complete = Math.max(0, earlier.count - 1)
      assert.deepEqual(later.y.subarray(0, complete), earlier.y.subarray(0, complete))
    }),
  )
})

test('blocks of two versions that are live at once are in the order of time', () => {
  const old = hours(Array.from({ length: 10 }, () => ({ positive: 18, negative: 2 })))
  const { window } = cutBlocks([old, old.map((sum) => ({ ...sum, start: sum.start + 1 }))])
  assert.deepEqual([...window.subarray(0, 4)], [0, 1, 0, 1])
})

test('a million votes in a thousand windows make a bounded number of blocks, with at least one in each window', () => {
  const windows = Array.from({ length: 1_000 }, (_, i) =>
    hours(
      Array.from({ length: 50 }, () => ({ positive: 15, negative: 5 })),
      i * 50,
    ),
  )
  const { count, window } = cutBlocks(windows)
  assert.ok(count <= 4_000, `${count} blocks`)
  assert.equal(new Set(window).size, 1_000)
})

test('the rate of a block is read back from its value', () => {
  const { y } = cutBlocks([hours([{ positive: 800, negative: 200 }])])
  assertClose(rateAt(y[0] as number), 0.8, 1e-3)
})

test('votes of one voter count once', () => {
  const one = cutBlocks([[{ start: 0, positive: 400, negative: 100, squares: 2_500 }]])
  const other = cutBlocks([[{ start: 0, positive: 80, negative: 20 }]])
  assert.deepEqual([one.y[0], one.variance[0]], [other.y[0], other.variance[0]])
})
