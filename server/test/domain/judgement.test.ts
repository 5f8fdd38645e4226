import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { discoveries } from '../../src/domain/impact/model/e-values.ts'
import type { Evidence } from '../../src/domain/impact/model/evidence.ts'
import { explain } from '../../src/domain/impact/model/explanation.ts'
import { type Findings, judge } from '../../src/domain/impact/model/judgement.ts'
import { mixOf } from '../../src/domain/impact/model/segments.ts'
import { assertClose, tallyOf } from './tallies.ts'

const before = tallyOf(850, 150)
const worse = tallyOf(750, 250)

function evidence(over: Partial<Evidence> = {}): Evidence {
  return {
    logBayesFactor: 4,
    mean: -0.25,
    deviation: 0.05,
    information: 400,
    findElsewhere: () => null,
    compareWith: () => null,
    ...over,
  }
}

function judged(findings: Partial<Findings> = {}) {
  const all = { before, after: worse, evidence: evidence(), ...findings }
  const judgement = judge(all)
  return { ...judgement, explanation: explain(judgement, all.before, all.after) }
}

test('a change is better or worse if its step explains the votes 20 times better than drift', () => {
  assert.equal(judged().verdict, 'worse')
  assert.equal(judged({ before: worse, after: before, evidence: evidence({ mean: 0.25 }) }).verdict, 'better')
  assert.equal(judged({ evidence: evidence({ logBayesFactor: 2.9 }) }).verdict, 'unexplained')
})

test('rates that differ are unexplained if drift, another moment, the audience or other prompts explain them', () => {
  const drift = judged({ evidence: evidence({ logBayesFactor: 1 }) })
  assert.deepEqual([drift.verdict, drift.reason], ['unexplained', { kind: 'drift' }])
  const other = judged({ evidence: evidence({ findElsewhere: () => ({ logBayesFactor: 8, start: 3_600_000 }) }) })
  assert.deepEqual([other.verdict, other.reason], ['unexplained', { kind: 'elsewhere', at: 3_600_000, lead: 4 }])
  const mix = { difference: -0.1, audience: -0.09, within: -0.01 }
  const audience = judged({ segments: [{ key: 'model', evidence: evidence({ logBayesFactor: 0 }), mix }] })
  assert.deepEqual([audience.verdict, audience.reason], ['unexplained', { kind: 'audience', key: 'model', mix }])
  const shared = judged({ sharedWith: 12 })
  assert.deepEqual([shared.verdict, shared.reason], ['unexplained', { kind: 'shared', prompts: 12 }])
})

test('a different audience explains a difference only if it makes a good part of it and the rates within it do not differ', () => {
  const segments = (mix: { difference: number; audience: number; within: number }, logBayesFactor = 0) => [
    { key: 'model', evidence: evidence({ logBayesFactor }), mix },
  ]
  assert.equal(judged({ segments: segments({ difference: -0.1, audience: -0.02, within: -0.08 }) }).verdict, 'worse')
  assert.equal(judged({ segments: segments({ difference: -0.1, audience: 0.05, within: -0.15 }) }).verdict, 'worse')
  assert.equal(judged({ segments: segments({ difference: -0.1, audience: -0.06, within: -0.04 }, 4) }).verdict, 'worse')
  const { explanation } = judged({ segments: segments({ difference: -0.1, audience: -0.06, within: -0.04 }) })
  assert.match(
    explanation,
    /but the votes are distributed differently over "model", which makes 6 points of the difference/,
  )
})

test('votes of voters who vote often are worth as many signals as there are voters', () => {
  const designEffect = { before: 10, after: 10 }
  assert.equal(judged({ evidence: null, designEffect }).effectiveSignals, 200)
  // 100 voters on each side: 85% and 75% do not differ clearly.
  const few = judged({ evidence: evidence({ logBayesFactor: 0, information: 50 }), designEffect })
  assert.deepEqual([few.verdict, few.effectiveSignals], ['too_little_data', 200])
})

test('a change keeps its effect while it explains the votes better than a step at any other moment', () => {
  const near = evidence({ findElsewhere: () => ({ logBayesFactor: 3.9, start: 0 }) })
  assert.equal(judged({ evidence: near }).verdict, 'worse')
  const better = evidence({ findElsewhere: () => ({ logBayesFactor: 4.1, start: 0 }) })
  assert.equal(judged({ evidence: better }).verdict, 'unexplained')
})

test('without a clear difference, the interval decides between no difference and too little data', () => {
  const none = evidence({ logBayesFactor: -2, mean: 0, information: 500 })
  assert.equal(judged({ after: tallyOf(850, 150), evidence: none }).verdict, 'no_difference_seen')
  const little = { before: tallyOf(40, 10), after: tallyOf(40, 10), evidence: evidence({ logBayesFactor: 0, mean: 0 }) }
  assert.equal(judged(little).verdict, 'too_little_data')
  assert.equal(judged({ after: tallyOf(5, 5), evidence: null }).verdict, 'too_little_data')
  assert.equal(judged({ before: tallyOf(0, 0), evidence: null }).verdict, 'too_little_data')
})

test('drift votes are worth fewer signals, and widen the interval', () => {
  const all = judged({ evidence: evidence({ information: 1_000 }) })
  const few = judged({ evidence: evidence({ information: 50 }) })
  assert.equal(all.effectiveSignals, 2_000)
  assert.equal(few.effectiveSignals, 200)
  const width = ({ difference }: typeof all) => (difference?.interval[1] ?? 0) - (difference?.interval[0] ?? 0)
  assert.ok(width(few) > 2 * width(all))
})

test('each verdict is explained in a sentence with its numbers', () => {
  assert.equal(
    judged().explanation,
    '75% of 1,000 votes are positive after this change, 85% of 1,000 votes before it. A fall of this size at this moment is at least 20 times more likely with an effect of the change than without one.',
  )
  assert.equal(
    judged({ evidence: evidence({ logBayesFactor: 1, information: 77.5 }) }).explanation,
    '75% of 1,000 votes are positive after this change, 85% of 1,000 votes before it, but votes on this prompt may drift this far without any change: together they say as much as 310 independent votes.',
  )
  assert.equal(
    judged({ evidence: evidence({ findElsewhere: () => ({ logBayesFactor: 9, start: Date.UTC(2026, 4, 3, 14) }) }) })
      .explanation,
    '75% of 1,000 votes are positive after this change, 85% of 1,000 votes before it, but the rate moved around 2026-05-03 14:00 UTC, not with this change.',
  )
  assert.equal(
    judged({ before: tallyOf(0, 0), after: tallyOf(1, 0), evidence: null }).explanation,
    'There are 0 votes before this change and 1 vote after it. A comparison needs 20 on each side.',
  )
})

test('the parts of a difference add up to it, and an audience that changed is one', () => {
  const mix = mixOf([
    { before: tallyOf(630, 70), after: tallyOf(450, 50) },
    { before: tallyOf(210, 90), after: tallyOf(350, 150) },
  ])
  assertClose(mix?.difference, -0.04, 1e-12)
  assertClose(mix?.audience, -0.04, 1e-12)
  assertClose(mix?.within, 0, 1e-12)
  const count = fc.record({ positive: fc.nat(100), negative: fc.nat(100) })
  fc.assert(
    fc.property(fc.array(fc.record({ before: count, after: count }), { minLength: 1 }), (segments) => {
      const parts = mixOf(segments)
      if (parts === null) return
      const total = (side: 'before' | 'after') => {
        const positive = segments.reduce((sum, segment) => sum + segment[side].positive, 0)
        return positive / segments.reduce((sum, segment) => sum + segment[side].positive + segment[side].negative, 0)
      }
      // A segment on one side only has no rate on the other, so it counts as audience.
      assertClose(parts.audience + parts.within, total('after') - total('before'), 1e-9)
    }),
  )
})

test('segments are reported so that their factors together outweigh how many were checked', () => {
  const log = (factor: number) => Math.log(factor)
  assert.deepEqual(discoveries([log(399), log(1), log(1)].concat(Array(17).fill(0))), Array(20).fill(false))
  assert.deepEqual(discoveries([log(401), ...Array(19).fill(0)]), [true, ...Array(19).fill(false)])
  assert.deepEqual(discoveries([log(201), log(201), ...Array(18).fill(0)]), [true, true, ...Array(18).fill(false)])
  assert.deepEqual(discoveries([]), [])
})
