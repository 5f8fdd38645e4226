import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { type LineEvent, liveLine } from '../../src/domain/deployments/live-line.ts'
import { isProduction, validProductionEnvironments } from '../../src/domain/deployments/production.ts'
import { wholeShare } from '../../src/domain/deployments/state.ts'
import { timedChanges } from '../../src/domain/history/change.ts'
import { liveHistory } from '../../src/domain/impact/live/live-window.ts'

const shaOf = (seq: number) => String(seq).repeat(40).slice(0, 40)

function event(seq: number, at: number, more: Partial<LineEvent> = {}): LineEvent {
  const place = { sha: shaOf(seq), seq, orphanedAt: null }
  return { environment: 'production', state: 'success', share: wholeShare, at, forgeDeploymentId: null, place, ...more }
}

const changes = timedChanges(
  [1, 2, 3, 4].map((seq) => ({ id: seq, commitSha: shaOf(seq), seq, createdAt: seq, orphanedAt: null })),
  1_000,
)

const events = fc
  .array(
    fc.record({
      seq: fc.integer({ min: 1, max: 4 }),
      environment: fc.constantFrom('eu', 'us'),
      state: fc.constantFrom('success', 'success', 'inactive'),
      share: fc.constantFrom(wholeShare, wholeShare, 100_000, 500_000),
    }),
    { maxLength: 20 },
  )
  .map((list) => list.map(({ seq, ...more }, i) => event(seq, 10 + i, more as Partial<LineEvent>)))

describe('What deployments make live', () => {
  test('the shares of what is live always add up to 1, and no version is live twice at once', () => {
    fc.assert(
      fc.property(events, (list) => {
        for (const { parts } of liveLine(list)) {
          if (parts.length === 0) continue
          const sum = parts.reduce((total, { share }) => total + share, 0)
          assert.ok(Math.abs(sum - 1) < 1e-9, `shares add up to ${sum}`)
          const keys = parts.map(({ environment, place }) => `${environment} ${place?.sha}`)
          assert.equal(new Set(keys).size, keys.length)
        }
      }),
    )
  })

  test('every instant with a live version credits exactly one change, which is the first of those that are live', () => {
    fc.assert(
      fc.property(events, (list) => {
        const history = liveHistory(changes, liveLine(list))
        for (let at = 0; at < 40; at++) {
          const credited = [...history.periods.values()].filter(({ credits }) =>
            credits.some(({ from, until }) => from <= at && (until === null || at < until)),
          )
          const windows = [...history.periods.values()].filter((period) =>
            period.windows.some(({ from, until }) => from <= at && (until === null || at < until)),
          )
          const live = history.at(at).map(({ change }) => change.id)
          assert.deepEqual(
            credited.map(({ change }) => change.id),
            live.slice(0, 1),
          )
          assert.deepEqual(windows.map(({ change }) => change.id).sort(), live.sort())
        }
      }),
    )
  })

  test('deployments that change no version of a prompt are one segment', () => {
    assert.equal(liveLine([event(1, 10), event(1, 11), event(2, 12), event(2, 13)]).length, 2)
    assert.deepEqual(liveLine([event(1, 10, { state: 'inactive' })]), [])
  })

  test('two deployments at the same time count in the order in which they were reported', () => {
    const [segment] = liveLine([event(1, 10), event(2, 10)])
    assert.deepEqual(
      segment?.parts.map(({ place }) => place?.seq),
      [2],
    )
  })
})

describe('Production', () => {
  test('the default is what the forge says and the usual names; a setting replaces both', () => {
    const flagged = { environment: 'blue', flagged: true }
    const named = { environment: 'Prod', flagged: false }
    assert.deepEqual([isProduction(null, flagged), isProduction(null, named)], [true, true])
    assert.equal(isProduction(null, { environment: 'staging', flagged: null }), false)
    assert.deepEqual([isProduction(['eu/*'], flagged), isProduction(['eu/*'], named)], [false, false])
    assert.equal(isProduction(['eu/*'], { environment: 'eu/main', flagged: null }), true)
    assert.equal(isProduction([], named), false)
  })

  test('the setting is a list of up to 20 globs', () => {
    assert.equal(validProductionEnvironments(null), null)
    assert.deepEqual(validProductionEnvironments(['a', 'a', 'b-*']), ['a', 'b-*'])
    assert.throws(() => validProductionEnvironments(Array(21).fill('a')), /at most 20 items/)
    assert.throws(() => validProductionEnvironments(['']), /must not be empty/)
    assert.throws(() => validProductionEnvironments(['*'.repeat(200)]), /wildcards/)
  })
})
