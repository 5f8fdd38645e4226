import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sharesOf } from '../../../testing/model-switches.ts'
import { seededRandom } from '../../../testing/random.ts'
import { type ModelEvent, modelChangesOfDeployments } from '../../src/domain/deployments/model-line.ts'
import {
  joinModelChanges,
  type ModelChange,
  modelChangesOf,
  modelChangesOfVotes,
} from '../../src/domain/telemetry/model-changes.ts'
import { day, hour } from '../../src/domain/time.ts'

test('a change of the model is the hour in which another one begins to serve most calls of a day', () => {
  const hours = (models: string[]) => models.map((model, i) => ({ hour: i * hour, model, calls: 10 }))
  assert.deepEqual(modelChangesOf(hours(['a', 'a', 'b', 'b'])), [{ at: 2 * hour, from: 'a', to: 'b', source: 'spans' }])
  assert.deepEqual(modelChangesOf(hours(['a', 'b', 'a', 'a', 'a'])), [])
  assert.deepEqual(modelChangesOf([]), [])
  const mixed = [0, 1, 2, 3].flatMap((i) => [
    { hour: i * hour, model: 'a', calls: 6 },
    { hour: i * hour, model: 'b', calls: i < 2 ? 5 : 7 },
  ])
  assert.deepEqual(modelChangesOf(mixed), [{ at: 2 * hour, from: 'a', to: 'b', source: 'spans' }])
})

test('votes tell of a new model once it has more of them than chance gives it', () => {
  const random = seededRandom(7)
  const shared = Array.from({ length: 4_000 }, (_, i) => ({ at: i * hour, model: random() < 0.5 ? 'a' : 'b' }))
  assert.deepEqual(modelChangesOfVotes(shared), [])
  const switchAt = 300
  const votesOf = (share: number) =>
    Array.from({ length: 600 }, (_, i) => ({ at: i * hour, model: random() < share === i < switchAt ? 'a' : 'b' }))
  for (const share of [1, 0.95]) {
    const [change, ...more] = modelChangesOfVotes(votesOf(share))
    assert.deepEqual([change?.from, change?.to, more], ['a', 'b', []])
    assert.ok(Math.abs((change?.at ?? 0) - switchAt * hour) <= 12 * hour)
  }
  const few = Array.from({ length: 16 }, (_, i) => ({ at: i * hour, model: i < 8 ? 'a' : 'b' }))
  assert.deepEqual(modelChangesOfVotes(few), [])
})

test('a deployment tells of its model: canaries by their share, the same commit again, and nothing if it names none', () => {
  const deployed = (
    at: number,
    commitSha: string,
    model: string | null,
    more: Partial<ModelEvent> = {},
  ): ModelEvent => ({
    environment: 'production',
    state: 'success',
    share: 1_000_000,
    forgeDeploymentId: null,
    at,
    commitSha,
    model,
    ...more,
  })
  const changed = (...events: ModelEvent[]) =>
    modelChangesOfDeployments(events).map(({ at, from, to }) => `${at} ${from} ${to}`)
  assert.deepEqual(changed(deployed(1, 'x', 'a'), deployed(2, 'x', 'b'), deployed(3, 'y', 'b')), ['2 a b'])
  assert.deepEqual(changed(deployed(1, 'x', 'a'), deployed(2, 'y', null), deployed(3, 'z', 'a')), [])
  assert.deepEqual(changed(deployed(1, 'x', 'a'), deployed(2, 'y', null), deployed(3, 'z', 'b')), ['3 a b'])
  const canary = (at: number, share: number) => deployed(at, 'x', 'b', { share: share * 1_000_000 })
  assert.deepEqual(changed(deployed(1, 'x', 'a'), canary(2, 0.1), canary(3, 0.6)), ['3 a b'])
  const ended = deployed(4, 'x', null, { state: 'inactive' })
  assert.deepEqual(changed(deployed(1, 'x', 'a'), canary(2, 0.1), canary(3, 0.6), ended), ['3 a b', '4 b a'])
  const [eu, us] = [{ environment: 'eu' }, { environment: 'us' }]
  const inTurn = [
    deployed(1, 'x', 'a', eu),
    deployed(1, 'x', 'a', us),
    deployed(2, 'x', 'b', eu),
    deployed(3, 'x', 'b', us),
  ]
  assert.deepEqual(changed(...inTurn), ['3 a b'])
  for (const later of [0, 0.1]) {
    const withForge = (events: ModelEvent[]) =>
      events.flatMap((event) => {
        const { at, commitSha, environment } = event
        return [
          event,
          deployed(at + later, commitSha, null, { environment, forgeDeploymentId: `${environment} ${at}` }),
        ]
      })
    assert.deepEqual(changed(...withForge(inTurn)), ['3 a b'], `the forge reports ${later} ms later`)
    assert.deepEqual(changed(...withForge([deployed(1, 'x', 'a'), deployed(2, 'y', 'b')])), ['2 a b'])
  }
})

test('a change that several sources tell of is listed once, as the best of them tells it', () => {
  const change = (source: ModelChange['source'], at: number, to = 'b') => ({ at, from: 'a', to, source })
  const spans = [change('spans', 3 * day)]
  const deployments = [change('deployments', 3 * day - hour), change('deployments', 9 * day)]
  const signals = [change('signals', 3 * day + hour, 'c'), change('signals', 8 * day + 1)]
  assert.deepEqual(joinModelChanges(spans, deployments, signals), [spans[0], signals[0], deployments[1]])
})

// testing/model-switches.ts prints the rates of docs/impact.md.
test('a planted change of the model acquits the prompt if the model did it, and not if the prompt did it', () => {
  const planted = { votesPerDay: 200, fall: 0.1 }
  for (const [switchAfterDays, teller] of [
    [-2, 'spans'],
    [2, 'spans'],
    [-2, 'votes'],
    [2, 'votes'],
  ] as const) {
    const model = sharesOf({ ...planted, switchAfterDays, culprit: 'model' }, 20, teller)
    assert.ok(model.blamed <= 0.05, `${model.blamed} blamed for the model ${switchAfterDays} days away`)
    const prompt = sharesOf({ ...planted, switchAfterDays, culprit: 'prompt' }, 20, teller)
    assert.ok(prompt.blamed >= 0.85, `${prompt.blamed} found with a model ${switchAfterDays} days away`)
  }
  const together = sharesOf({ ...planted, switchAfterDays: 0, culprit: 'prompt' }, 5)
  assert.equal(together['named the model'], 1)
})
