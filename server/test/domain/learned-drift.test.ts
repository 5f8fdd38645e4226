import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultDrift, gridSize, learnDrift } from '../../src/domain/impact/model/drift.ts'
import { decodeLikelihood, encodeLikelihood, type PromptDrift } from '../../src/domain/impact/model/drift-store.ts'
import { createLearnedDrift } from '../../src/domain/impact/model/learned-drift.ts'
import type { Prompt } from '../../src/domain/prompt.ts'
import { minute } from '../../src/domain/time.ts'

/** A prompt whose votes are much more likely at one point of the grid. */
const preferring = (point: number) => Float64Array.from({ length: gridSize }, (_, g) => (g === point ? 0 : -30))

const promptOf = (id: number) => ({ id, organisationId: 1 }) as Prompt

test('likelihoods are stored relative to the largest, and read back within single precision', () => {
  const logLikelihood = Float64Array.from({ length: gridSize }, (_, g) => -1_234.5 - g * 0.37)
  const read = decodeLikelihood(encodeLikelihood(logLikelihood)) as Float64Array
  for (let g = 0; g < gridSize; g++) assert.ok(Math.abs((read[g] as number) + g * 0.37) < 1e-4)
  const text = encodeLikelihood(logLikelihood)
  for (const wrong of ['', text.slice(4), `${text}AAAA`, 'x'.repeat(text.length), `!${text.slice(1)}`]) {
    assert.equal(decodeLikelihood(wrong), null, wrong)
  }
})

test('a prompt learns from the others, and not from itself', async () => {
  let stored: PromptDrift[] = [{ promptId: 1, logLikelihood: preferring(5) }]
  let now = 0
  const learned = createLearnedDrift({ ofOrganisation: async () => stored }, () => now)
  assert.deepEqual(await learned.of(promptOf(1)), defaultDrift)
  stored = [1, 2, 3].map((promptId) => ({ promptId, logLikelihood: preferring(promptId === 1 ? 5 : 7) }))
  assert.deepEqual(await learned.of(promptOf(1)), defaultDrift, 'what was learned is kept for ten minutes')
  now += 10 * minute
  const ofFirst = await learned.of(promptOf(1))
  assert.equal(await learned.of(promptOf(1)), ofFirst, 'it is worked out once')
  const expected = learnDrift([preferring(7), preferring(7)])
  for (let g = 0; g < gridSize; g++) {
    assert.ok(Math.abs(Math.exp(ofFirst[g] as number) - Math.exp(expected[g] as number)) < 0.01, `${g}`)
  }
  const ofNew = await learned.of(promptOf(4))
  assert.deepEqual(ofNew, learnDrift(stored.map(({ logLikelihood }) => logLikelihood)))
})

test('a failure to learn is not remembered', async () => {
  let isBroken = true
  const store = {
    ofOrganisation: async () => {
      if (isBroken) throw new Error('the database is gone')
      return []
    },
  }
  const learned = createLearnedDrift(store, () => 0)
  await assert.rejects(learned.of(promptOf(1)), /the database is gone/)
  isBroken = false
  assert.deepEqual(await learned.of(promptOf(1)), learnDrift([]))
})
