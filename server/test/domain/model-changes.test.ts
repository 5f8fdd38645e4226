import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sharesOf } from '../../../testing/model-switches.ts'
import { modelChangesOf } from '../../src/domain/telemetry/model-changes.ts'
import { hour } from '../../src/domain/time.ts'

test('a change of the model is the hour in which another one begins to serve most calls of a day', () => {
  const hours = (models: string[]) => models.map((model, i) => ({ hour: i * hour, model, calls: 10 }))
  assert.deepEqual(modelChangesOf(hours(['a', 'a', 'b', 'b'])), [{ at: 2 * hour, from: 'a', to: 'b' }])
  assert.deepEqual(modelChangesOf(hours(['a', 'b', 'a', 'a', 'a'])), [])
  assert.deepEqual(modelChangesOf([]), [])
  const mixed = [0, 1, 2, 3].flatMap((i) => [
    { hour: i * hour, model: 'a', calls: 6 },
    { hour: i * hour, model: 'b', calls: i < 2 ? 5 : 7 },
  ])
  assert.deepEqual(modelChangesOf(mixed), [{ at: 2 * hour, from: 'a', to: 'b' }])
})

// testing/model-switches.ts prints the rates of docs/impact.md.
test('a planted change of the model acquits the prompt if the model did it, and not if the prompt did it', () => {
  const planted = { votesPerDay: 200, fall: 0.1 }
  for (const switchAfterDays of [-2, 2]) {
    const model = sharesOf({ ...planted, switchAfterDays, culprit: 'model' }, 20)
    assert.ok(model.blamed <= 0.05, `${model.blamed} blamed for the model ${switchAfterDays} days away`)
    const prompt = sharesOf({ ...planted, switchAfterDays, culprit: 'prompt' }, 20)
    assert.ok(prompt.blamed >= 0.85, `${prompt.blamed} found with a model ${switchAfterDays} days away`)
  }
  const together = sharesOf({ ...planted, switchAfterDays: 0, culprit: 'prompt' }, 5)
  assert.equal(together['named the model'], 1)
})
