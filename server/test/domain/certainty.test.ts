import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultHold, isCertainEnough, type RegressionCertainty } from '../../src/domain/alerts/certainty.ts'
import { day, minute } from '../../src/domain/time.ts'

const certain: RegressionCertainty = {
  evidence: 3.31,
  difference: -0.1,
  interval: [-0.15, -0.05],
  signalsAfter: 50,
  heldForMs: 15 * minute,
  liveForMs: 60 * day,
}

test('people are told about a regression that is 2,000 times more likely than none, after 50 signals and 15 minutes', () => {
  assert.equal(isCertainEnough(certain), true)
  assert.equal(isCertainEnough({ ...certain, evidence: 3.3 }), false)
  assert.equal(isCertainEnough({ ...certain, signalsAfter: 49 }), false)
  assert.equal(isCertainEnough({ ...certain, heldForMs: 15 * minute - 1 }), false)
})

test('a factor of 30 is enough for a fall of six points on 500 signals within ten days', () => {
  const likely = { ...certain, evidence: 1.48, difference: -0.06, signalsAfter: 500, liveForMs: 10 * day }
  assert.equal(isCertainEnough(likely), true)
  assert.equal(isCertainEnough({ ...likely, evidence: 1.47 }), false)
  assert.equal(isCertainEnough({ ...likely, signalsAfter: 499 }), false)
  assert.equal(isCertainEnough({ ...likely, liveForMs: 10 * day + 1 }), false)
  assert.equal(isCertainEnough({ ...likely, liveForMs: null }), false)
  assert.equal(isCertainEnough({ ...likely, difference: -0.059 }), false)
  assert.equal(isCertainEnough({ ...likely, difference: 0.1 }), false, 'a rise is no fall')
})

test('an alert may ask for more or less time and signals', () => {
  const hold = { holdMs: 60 * minute, minSignals: 20 }
  assert.equal(isCertainEnough({ ...certain, signalsAfter: 20 }, hold), false)
  assert.equal(isCertainEnough({ ...certain, signalsAfter: 20, heldForMs: 60 * minute }, hold), true)
  assert.deepEqual(defaultHold, { holdMs: 15 * minute, minSignals: 50 })
})

test('people are not told about a regression whose evidence is unknown, or whose interval includes no difference', () => {
  assert.equal(isCertainEnough({ ...certain, evidence: null }), false)
  assert.equal(isCertainEnough({ ...certain, interval: [-0.2, 0] }), false)
})
