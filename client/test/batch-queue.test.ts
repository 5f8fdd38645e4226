import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operator } from '../../server/src/domain/access/audit.ts'
import { onOneEngine } from '../../testing/engines.ts'
import type { Fate } from '../../testing/http-proxy.ts'
import { NotFoundError, type QueuedSignal, RateLimitedError, ValidationError } from '../src/index.ts'
import { fileSpool } from '../src/spool.ts'
import { numbersBelow, useLiveService } from './live-service.ts'
import { createSpoolPath } from './spool-path.ts'

const batchPath = '/api/v1/signals'

onOneEngine('Batches of a queue', (engine) => {
  const service = useLiveService(engine)
  const { proxy } = service

  /** An error handler, and the calls it received. */
  function errorRecorder() {
    const dropped: { error: unknown; signal: QueuedSignal | null }[] = []
    return { dropped, onError: (error: unknown, signal: QueuedSignal | null) => dropped.push({ error, signal }) }
  }

  test('signals that wait share requests of up to 500', async () => {
    const tenant = await service.tenant('team')
    const queue = service.queue(tenant)
    for (const number of numbersBelow(1_234)) {
      queue.add(tenant.prompt.publicId, { value: 'positive', metadata: { number } })
    }
    await queue.close()
    const sizes = proxy.requests.map(({ body }) => JSON.parse(body).signals.length)
    assert.deepEqual(sizes, [500, 500, 234])
    assert.deepEqual(await service.recordedNumbers(tenant), numbersBelow(1_234))
  })

  test('a request stays small, however large the signals in it are', async () => {
    const tenant = await service.tenant()
    const queue = service.queue(tenant)
    // Three bytes for each character.
    const text = '日'.repeat(5_000)
    for (const number of numbersBelow(120)) {
      queue.add(tenant.prompt.publicId, { value: 'positive', metadata: { number, text } })
    }
    await queue.close()
    assert.ok(proxy.requests.length > 1)
    for (const { body } of proxy.requests) assert.ok(Buffer.byteLength(body) < 800_000)
    assert.deepEqual(await service.recordedNumbers(tenant), numbersBelow(120))
  })

  test('each rejected signal of a batch is dropped with its own error, and the others are recorded', async () => {
    const tenant = await service.tenant()
    const { dropped, onError } = errorRecorder()
    const queue = service.queue(tenant, { onError })
    const add = (promptId: string, value: string, number: number) =>
      queue.add(promptId, { value, metadata: { number } } as never, { idempotencyKey: `vote-${number}` })
    add(tenant.prompt.publicId, 'positive', 0)
    add('pmt_none', 'positive', 1)
    add(tenant.prompt.publicId, 'so-so', 2)
    add(tenant.prompt.publicId, 'negative', 3)
    await queue.close()
    assert.equal(proxy.requests.length, 1)
    assert.deepEqual(
      dropped.map(({ error, signal }) => [(error as Error).constructor, signal?.key]),
      [
        [NotFoundError, 'vote-1'],
        [ValidationError, 'vote-2'],
      ],
    )
    assert.match(String(dropped[1]?.error), /value/)
    assert.deepEqual(await service.recordedNumbers(tenant), [0, 3])
  })

  test('of a batch over the monthly limit, the first signals are recorded and the spool keeps the rest', async () => {
    const tenant = await service.tenant()
    const path = await createSpoolPath()
    await tenant.fillMonth(990)
    const { dropped, onError } = errorRecorder()
    const first = service.queue(tenant, { onError, spool: fileSpool(path) })
    for (const number of numbersBelow(30)) {
      first.add(tenant.prompt.publicId, { value: 'positive', metadata: { number } })
    }
    await first.close()
    assert.deepEqual([first.size, dropped], [20, []])
    const withoutSpool = service.queue(tenant, { onError })
    for (const number of [30, 31]) {
      withoutSpool.add(tenant.prompt.publicId, { value: 'positive', metadata: { number } })
    }
    await withoutSpool.close()
    assert.deepEqual(
      dropped.map(({ error, signal }) => [error instanceof RateLimitedError, signal?.signal.metadata?.number]),
      [
        [true, 30],
        [true, 31],
      ],
    )
    await service.store.organisations.setPlan(tenant.organisation.id, 'team', service.now, operator)
    await service.queue(tenant, { onError, spool: fileSpool(path) }).close()
    // Those that filled the month have no number.
    const numbers = (await service.recordedNumbers(tenant)).filter(Number.isInteger)
    assert.deepEqual(new Set(numbers), new Set(numbersBelow(30)))
    assert.equal(await tenant.used(), 1_020)
  })

  test('a service without the batch endpoint gets the signals one by one', async () => {
    const tenant = await service.tenant()
    const { dropped, onError } = errorRecorder()
    const queue = service.queue(tenant, { onError, concurrency: 3 })
    const body = JSON.stringify({ error: { code: 'not_found', message: 'Not found.' } })
    let maxInFlight = 0
    proxy.fate = (_, { url }) => {
      maxInFlight = Math.max(maxInFlight, proxy.inFlight)
      return url === batchPath ? { do: 'respond', status: 404, body } : { do: 'pass' }
    }
    const numbers = numbersBelow(100)
    for (const number of numbers) queue.add(tenant.prompt.publicId, { value: 'positive', metadata: { number } })
    await queue.flush()
    const queuedLater = [100, 101]
    for (const number of queuedLater) queue.add(tenant.prompt.publicId, { value: 'positive', metadata: { number } })
    await queue.close()
    assert.equal(proxy.requests.filter(({ url }) => url === batchPath).length, 1)
    assert.equal(maxInFlight, 3)
    assert.deepEqual(await service.recordedNumbers(tenant), [...numbers, ...queuedLater])
    assert.deepEqual(dropped, [])
  })

  test('the signals of a batch that is rejected as a whole are sent one by one', async () => {
    const tenant = await service.tenant()
    const { dropped, onError } = errorRecorder()
    const queue = service.queue(tenant, { onError })
    proxy.fate = (index) => (index === 0 ? { do: 'respond', status: 413, body: 'too large' } : { do: 'pass' })
    for (const number of numbersBelow(20)) {
      const promptId = number === 7 ? 'pmt_none' : tenant.prompt.publicId
      queue.add(promptId, { value: 'positive', subject: `s-${number}`, metadata: { number } })
    }
    await queue.flush()
    assert.deepEqual(
      dropped.map(({ error, signal }) => [(error as Error).constructor, signal?.signal.metadata?.number]),
      [[NotFoundError, 7]],
    )
    assert.equal((await service.recordedNumbers(tenant)).length, 19)
    // Later signals share a request again, and votes on the same subjects are not stuck.
    proxy.reset()
    for (const number of numbersBelow(20)) {
      queue.add(tenant.prompt.publicId, { value: 'negative', subject: `s-${number}`, metadata: { number } })
    }
    await queue.close()
    assert.deepEqual([proxy.requests.length, queue.size], [1, 0])
  })

  test('the last vote on each subject wins, in the order of adding, when one request in five fails', async () => {
    const tenant = await service.tenant('business')
    const { dropped, onError } = errorRecorder()
    const queue = service.queue(tenant, { onError, concurrency: 20 })
    const fates: Fate[] = [{ do: 'refuse' }, { do: 'cut' }, { do: 'truncate', after: 30 }, { do: 'duplicate' }]
    proxy.fate = (number) => (number % 5 === 0 ? (fates[(number / 5) % 4] as Fate) : { do: 'pass' })
    const last = new Map<string, string | null>()
    for (let round = 0; round < 8; round++) {
      for (const number of numbersBelow(40)) {
        const subject = `s-${number}`
        const value = ([null, 'positive', 'negative'] as const)[(number + round) % 3] ?? null
        if (value === null && !last.has(subject)) continue
        queue.add(tenant.prompt.publicId, { value, subject })
        last.set(subject, value)
      }
      // Lets requests start, so that later votes meet earlier ones in flight.
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    await queue.close()
    assert.deepEqual(dropped, [])
    const recorded = new Map<string, string | null>()
    for await (const { subject, value } of service.ledger(tenant).signals.export(tenant.prompt.publicId)) {
      recorded.set(String(subject), value)
    }
    for (const [subject, value] of last) assert.equal(recorded.get(subject) ?? null, value, subject)
    assert.equal(await tenant.used(), 40)
  })

  test('a vote of this run is never replaced by an older one that the last run left in the spool', async () => {
    const tenant = await service.tenant()
    const path = await createSpoolPath()
    const first = service.queue(tenant, { spool: fileSpool(path), maxRetries: 0 })
    proxy.fate = () => ({ do: 'refuse' })
    first.add(tenant.prompt.publicId, { value: 'positive', subject: 's-1' })
    await first.close()
    const second = service.queue(tenant, { spool: fileSpool(path) })
    second.add(tenant.prompt.publicId, { value: 'negative', subject: 's-1' })
    await second.close()
    const { data } = await service.ledger(tenant).signals.list(tenant.prompt.publicId)
    assert.deepEqual(
      data.map(({ value }) => value),
      ['negative'],
    )
    assert.equal(await tenant.used(), 1)
  })

  test('a signal that the service failed to store is sent again alone', async () => {
    const tenant = await service.tenant()
    const { dropped, onError } = errorRecorder()
    const queue = service.queue(tenant, { onError })
    const recorded = { status: 201, data: { id: 1, value: 'positive', created_at: '2026-11-15T12:00:00.000Z' } }
    const failed = { status: 500, error: { code: 'internal_error', message: 'The service failed.' } }
    const body = JSON.stringify({ data: [recorded, failed] })
    proxy.fate = (index) => (index === 0 ? { do: 'respond', status: 200, body } : { do: 'pass' })
    for (const number of [0, 1]) queue.add(tenant.prompt.publicId, { value: 'positive', metadata: { number } })
    await queue.close()
    assert.deepEqual([proxy.requests.length, dropped], [2, []])
    assert.deepEqual(await service.recordedNumbers(tenant), [1])
  })

  test('a signal that was recorded in a batch counts once when it is sent again alone', async () => {
    const tenant = await service.tenant()
    const path = await createSpoolPath()
    const { dropped, onError } = errorRecorder()
    const first = service.queue(tenant, { onError, spool: fileSpool(path), maxRetries: 0 })
    proxy.fate = () => ({ do: 'cut' })
    for (const number of [0, 1]) {
      first.add(tenant.prompt.publicId, { value: 'positive', voter: 'user-1', metadata: { number } })
    }
    await first.close()
    assert.equal(await tenant.used(), 2)
    const second = service.queue(tenant, { onError, spool: fileSpool(path) })
    proxy.fate = (_, { url }) => (url === batchPath ? { do: 'respond', status: 413 } : { do: 'pass' })
    await second.close()
    assert.equal(proxy.requests.length, 3)
    assert.equal(await tenant.used(), 2)
    assert.deepEqual(dropped, [])
  })
})
