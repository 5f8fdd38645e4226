import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onOneEngine } from '../../../testing/engines.ts'
import { TestService } from '../../../testing/service.ts'
import { createSigningKey, payloadFor, signPayload } from '../../../testing/vote-tokens.ts'
import { createBatches } from '../../src/http/votes/batches.ts'

test('votes of the same 20 ms go on together, in order, and the next one waits as long again', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const nextBatch = createBatches(20)
  const started: number[] = []
  const vote = async (number: number) => {
    await nextBatch()
    started.push(number)
  }
  const first = [vote(1), vote(2)]
  t.mock.timers.tick(19)
  first.push(vote(3))
  await Promise.resolve()
  assert.deepEqual(started, [])
  t.mock.timers.tick(1)
  await Promise.all(first)
  assert.deepEqual(started, [1, 2, 3])
  const second = vote(4)
  t.mock.timers.tick(19)
  await Promise.resolve()
  assert.deepEqual(started, [1, 2, 3])
  t.mock.timers.tick(1)
  await second
})

test('other work is done between the votes of a batch, which are at most four in each turn of the event loop', async () => {
  const nextBatch = createBatches(1)
  let going = 0
  const votes = Promise.all(Array.from({ length: 30 }, () => nextBatch().then(() => going++)))
  const turns: number[] = []
  while (going < 30) {
    const before = going
    await new Promise((resolve) => setImmediate(resolve))
    turns.push(going - before)
  }
  await votes
  assert.ok(Math.max(...turns) <= 4, `${turns}`)
})

onOneEngine('Votes that arrive together', (engine) => {
  const service = new TestService()

  test('each is recorded, the last one on a subject counts, and the monthly limit is exact', async () => {
    await service.open(engine)
    const tenant = await service.tenant()
    const { secret } = await createSigningKey(service, tenant)
    await tenant.fillMonth(980)
    let addresses = 0
    const vote = async (subject: string, value: string) => {
      const response = await service.app.inject({
        method: 'POST',
        url: '/api/v1/votes',
        remoteAddress: `10.0.0.${++addresses}`,
        payload: { token: signPayload(secret, payloadFor(secret, tenant, service.now, { s: subject })), value },
      })
      return response.statusCode
    }
    const subjects = Array.from({ length: 30 }, (_, i) => `s${i}`)
    const statuses = await Promise.all([
      ...subjects.map((subject) => vote(subject, 'positive')),
      ...subjects.map((subject) => vote(subject, 'negative')),
    ])
    const accepted = statuses.slice(0, 30).filter((status) => status === 200).length
    assert.equal(accepted, 20)
    assert.deepEqual(statuses.slice(30), statuses.slice(0, 30))
    assert.equal(await tenant.used(), 1_000)
    const filter = { value: null, since: null, until: null }
    const signals = (await Array.fromAsync(service.store.signals.stream(tenant.prompt, filter))).flat()
    const votes = signals.filter(({ subject }) => subject !== null)
    assert.deepEqual(new Set(votes.map(({ value }) => value)), new Set(['negative']))
    assert.equal(votes.length, 20)
  })
})
