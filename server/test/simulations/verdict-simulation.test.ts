import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Change, countDecided, decidedByInterval, verdictCounts } from '../../../testing/verdict-simulation.ts'

const rates = [0.05, 0.2, 0.5, 0.8, 0.95]
const histories = 2_000
const changes: [string, Change][] = [
  ['after 20 signals', 20],
  ['after 200 signals', 200],
  ['after 1,000 signals', 1_000],
  ['after 2,500 signals', 2_500],
  ['because the signals look bad', 'bad'],
  ['at the start and both windows keep growing', 'both'],
]

for (const [when, change] of changes) {
  test(`checking a change without effect after every 20 of 5,000 signals finds it better or worse in at most 5% of histories, if it was made ${when}`, () => {
    for (const rate of rates) {
      const decided = countDecided({ rate, change, histories, seed: 100 * rate })
      assert.ok(decided <= 0.05 * histories, `${decided} of ${histories} at ${rate}`)
    }
  })
}

test('checking the interval alone is misled in more than 15% of the same histories', () => {
  const decided = countDecided({ rate: 0.5, change: 1_000, histories, seed: 1, isDecided: decidedByInterval })
  assert.ok(decided > 0.15 * histories, `${decided} of ${histories}`)
})

test('a fall from 85% to 75% is worse, and the reverse better, in at least 90% of histories with 1,000 signals per side', () => {
  const fall = verdictCounts([0.85, 1_000], [0.75, 1_000], histories, 1)
  assert.ok(fall.worse >= 0.9 * histories && fall.better === 0, JSON.stringify(fall))
  const rise = verdictCounts([0.75, 1_000], [0.85, 1_000], histories, 2)
  assert.ok(rise.better >= 0.9 * histories && rise.worse === 0, JSON.stringify(rise))
})

test('a real change is found in about 90% of histories with the number of signals that docs/impact.md gives', () => {
  // The table in docs/impact.md: a rate, how many points it falls, and the signals needed.
  for (const [rate, points, needed] of [
    [0.95, 10, 380],
    [0.85, 20, 200],
    [0.85, 5, 2_900],
    [0.5, 10, 1_200],
    [0.5, 2, 36_000],
  ] as const) {
    const { worse } = verdictCounts([rate, needed], [rate - points / 100, needed], histories, 3)
    assert.ok(worse >= 0.88 * histories, `${worse} of ${histories} for ${points} points from ${rate}`)
  }
})
