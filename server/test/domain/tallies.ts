import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Tally } from '../../src/domain/signals/tally.ts'

export const count = fc.oneof(fc.nat(50), fc.nat(5_000), fc.nat(1_000_000_000))
export const tally = fc.record({ positive: count, negative: count })
export const noSignals = tallyOf(0, 0)

export function tallyOf(positive: number, negative: number): Tally {
  return { positive, negative }
}

export function assertClose(actual: number | undefined, expected: number, tolerance: number): void {
  assert.ok(actual !== undefined)
  assert.ok(
    Math.abs(actual - expected) <= tolerance * Math.max(1, Math.abs(expected)),
    `expected ${expected}, got ${actual}`,
  )
}
