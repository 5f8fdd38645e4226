import assert from 'node:assert/strict'
import { test } from 'node:test'
import { figures } from '../../../testing/regressions.ts'
import type { JudgedChange } from '../../src/domain/impact/judged-changes.ts'
import { findWithdrawal } from '../../src/domain/regressions/withdrawal.ts'

const explanation = 'The rate moved, but not with this change.'

/** A change that was worse, and is not any more. */
function judged(over: Partial<JudgedChange>): JudgedChange {
  const before = { positive: 850, negative: 150 }
  return { ...unexplained, before, after: { positive: 800, negative: 200 }, ...over } as JudgedChange
}

const unexplained = { verdict: 'unexplained', reason: { kind: 'drift' }, evidence: 0.5, explanation }

test('a verdict is taken back if other prompts, the audience or clearly another moment explain the votes', () => {
  const mix = { difference: -0.1, audience: -0.1, within: 0 }
  assert.equal(findWithdrawal(judged({ reason: { kind: 'shared', prompts: 3 } }), figures), explanation)
  assert.equal(findWithdrawal(judged({ reason: { kind: 'audience', key: 'model', mix } }), figures), explanation)
  assert.equal(findWithdrawal(judged({ reason: { kind: 'elsewhere', at: 1, lead: 1.2 } }), figures), explanation)
  assert.equal(findWithdrawal(judged({ reason: { kind: 'elsewhere', at: 1, lead: 1 } }), figures), null)
  assert.equal(findWithdrawal(judged({ verdict: 'better', reason: null }), figures), explanation)
})

test('a verdict is taken back if the votes are gone or make the step less likely than none, but not if it is only less certain', () => {
  const unsure = { verdict: 'too_little_data', reason: null } as const
  assert.equal(findWithdrawal(judged({ ...unsure, evidence: null }), figures), explanation)
  assert.equal(findWithdrawal(judged({ ...unsure, evidence: -0.1 }), figures), explanation)
  assert.equal(findWithdrawal(judged({ ...unsure, evidence: 0.1 }), figures), null)
  assert.equal(findWithdrawal(judged({ evidence: 1.2 }), figures), null)
  assert.equal(findWithdrawal(judged({ verdict: 'worse', reason: null, evidence: 3 }), figures), null)
})

test('a verdict is not taken back because retention removed the single votes: the rates are the same', () => {
  const after = { positive: 701, negative: 299 }
  assert.equal(findWithdrawal(judged({ after, evidence: -0.1 }), figures), null)
})
