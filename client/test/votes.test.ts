import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onOneEngine } from '../../testing/engines.ts'
import { NotFoundError, RateLimitedError, ValidationError } from '../src/index.ts'
import { useLiveService } from './live-service.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const traceparent = `00-${traceId}-00f067aa0ba902b7-01`

onOneEngine('Votes', (engine) => {
  const service = useLiveService(engine)
  const { proxy } = service

  test('a further vote on a subject replaces the first, and can be withdrawn', async () => {
    const tenant = await service.tenant()
    const { signals } = service.ledger(tenant)
    const prompt = tenant.prompt.publicId
    const vote = { subject: 'answer-1', version: 'a1'.repeat(20), voter: 'user-1' }
    const first = await signals.create(prompt, { ...vote, value: 'positive' })
    const second = await signals.create(prompt, { ...vote, value: 'negative', comment: 'Too long.' })
    assert.deepEqual([second.id, second.value], [first.id, 'negative'])
    const [listed, ...others] = (await signals.list(prompt)).data
    assert.deepEqual(
      [listed?.id, listed?.value, listed?.subject, listed?.version, listed?.comment, others],
      [first.id, 'negative', vote.subject, vote.version, 'Too long.', []],
    )
    assert.notEqual(listed?.voter, vote.voter)
    const withdrawn = await signals.withdraw(prompt, vote.subject)
    assert.deepEqual([withdrawn.id, withdrawn.value], [first.id, null])
    assert.deepEqual((await signals.list(prompt)).data, [])
    await assert.rejects(signals.withdraw(prompt, 'answer-2'), NotFoundError)
    assert.equal(await tenant.used(), 1)
  })

  test('a vote whose response was lost never replaces a later one', async () => {
    const tenant = await service.tenant()
    const { signals } = service.ledger(tenant)
    const prompt = tenant.prompt.publicId
    proxy.fate = (index) => (index === 0 ? { do: 'cut' } : { do: 'pass' })
    const first = signals.create(prompt, { value: 'positive', subject: 'answer-1' })
    // The retry of the first vote waits for at least 250 ms.
    while (proxy.requests.length === 0 || proxy.inFlight > 0) await new Promise(setImmediate)
    await signals.create(prompt, { value: 'negative', subject: 'answer-1' })
    await first
    assert.deepEqual(
      (await signals.list(prompt)).data.map(({ value }) => value),
      ['negative'],
    )
  })

  test('a batch returns the result of each signal, in order', async () => {
    const tenant = await service.tenant()
    await tenant.fillMonth(998)
    const { signals } = service.ledger(tenant)
    const prompt = tenant.prompt.publicId
    const results = await signals.createMany([
      { prompt, value: 'positive', subject: 'answer-1' },
      { prompt: 'pmt_none', value: 'positive' },
      { prompt, value: 'so-so' as 'positive' },
      { prompt, value: 'negative', subject: 'answer-1' },
      { prompt, value: 'negative' },
      { prompt, value: 'negative' },
    ])
    assert.deepEqual(
      results.map(({ signal, error }) => signal?.value ?? error?.constructor),
      ['positive', NotFoundError, ValidationError, 'negative', 'negative', RateLimitedError],
    )
    assert.equal(results[3]?.signal?.id, results[0]?.signal?.id)
    const limited = results[5]?.error as RateLimitedError
    assert.deepEqual([limited.limit, limited.used, limited.status], [1_000, 1_000, 429])
    assert.equal(await tenant.used(), 1_000)
    await assert.rejects(signals.createMany([]), ValidationError)
  })

  test('the signals of a batch count once when its response is lost', async () => {
    const tenant = await service.tenant()
    const { signals } = service.ledger(tenant)
    const prompt = tenant.prompt.publicId
    proxy.first({ do: 'cut' }, { do: 'truncate', after: 30 }, { do: 'duplicate' })
    const results = await signals.createMany([
      { prompt, value: 'positive' },
      { prompt, value: 'positive' },
      { prompt, value: 'negative', idempotency_key: 'vote-1' },
    ])
    assert.ok(results.every(({ error }) => error === null))
    assert.equal(proxy.requests.length, 3)
    assert.equal(await tenant.used(), 3)
  })

  test('the trace of a signal is recorded, whether it is sent alone, in a batch or by a queue', async () => {
    const tenant = await service.tenant()
    const { signals } = service.ledger(tenant)
    const prompt = tenant.prompt.publicId
    await signals.create(prompt, { value: 'positive' }, { traceparent })
    await signals.createMany([{ prompt, value: 'positive', traceparent }])
    const queue = service.queue(tenant)
    queue.add(prompt, { value: 'positive' }, { traceparent })
    await queue.flush()
    for (let count = 0; count < 2; count++) queue.add(prompt, { value: 'positive' }, { traceparent })
    await queue.close()
    const { data } = await signals.list(prompt)
    assert.deepEqual(
      data.map(({ trace_id }) => trace_id),
      Array(5).fill(traceId),
    )
  })
})
