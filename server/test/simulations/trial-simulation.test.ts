import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mismatchesFound, powerOf, shareMismatches, simulatedTrials } from '../../../testing/trial-simulation.ts'

const trials = 200

for (const [i, { name, trial, atLeast }] of simulatedTrials.entries()) {
  if (trial.difference === 0) {
    test(`a trial without effect is called better or worse at any look in at most 5% of cases: ${name}`, () => {
      const { worse, better } = powerOf(trial, trials, i)
      assert.ok(worse + better <= 0.05, `${worse} worse, ${better} better`)
    })
  } else if (atLeast !== undefined) {
    test(`a trial finds a candidate that is worse in about ${100 * atLeast}% of cases: ${name}`, () => {
      const { worse } = powerOf(trial, trials, i)
      // Three standard deviations of 200 trials.
      assert.ok(worse >= atLeast - 3 * Math.sqrt((atLeast * (1 - atLeast)) / trials), `${worse}`)
    })
  }
}

for (const [i, [share, actual]] of shareMismatches.entries()) {
  const found = () => mismatchesFound(share, actual, { units: 5_000, runs: trials, seed: 100 + i }).found
  if (share === actual) {
    test(`units that come with the promised share of ${100 * share}% are called a mismatch in at most 1% of trials`, () => {
      assert.ok(found() <= 0.01)
    })
  } else if (share === 0.5 || Math.abs(share - actual) > 0.09) {
    test(`a share of ${Math.round(100 * actual)}% instead of ${100 * share}% is noticed in at least 95% of trials within 5,000 units`, () => {
      assert.ok(found() >= 0.95)
    })
  }
}
