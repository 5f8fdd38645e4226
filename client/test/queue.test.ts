import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sqlite } from '../../testing/engines.ts'
import { eventually } from '../../testing/eventually.ts'
import type { Fate } from '../../testing/http-proxy.ts'
import { ConnectionError, NotFoundError, PromptledgerError, type QueuedSignal, TimeoutError } from '../src/index.ts'
import { numbersBelow, useLiveService } from './live-service.ts'

describe('A queue', () => {
  const service = useLiveService(sqlite)
  const { proxy } = service

  /** An error handler, and the calls it received. */
  function errorRecorder() {
    const dropped: { error: unknown; signal: QueuedSignal | null }[] = []
    return { dropped, onError: (error: unknown, signal: QueuedSignal | null) => dropped.push({ error, signal }) }
  }

  test('adding a signal returns at once, and the queue sends it in the background', async () => {
    const tenant = await service.tenant()
    const { dropped, onError } = errorRecorder()
    const queue = service.queue(tenant, { onError })
    for (const number of numbersBelow(50)) {
      assert.equal(queue.add(tenant.prompt.publicId, { value: 'positive', metadata: { number } }), true)
    }
    assert.equal(queue.size, 50)
    await queue.flush()
    assert.equal(queue.size, 0)
    assert.deepEqual(await service.recordedNumbers(tenant), numbersBelow(50))
    assert.deepEqual(dropped, [])
  })

  test('a queue has at most `concurrency` requests in flight', async () => {
    const tenant = await service.tenant()
    const queue = service.queue(tenant, { concurrency: 3 })
    let maxInFlight = 0
    proxy.fate = () => {
      maxInFlight = Math.max(maxInFlight, proxy.inFlight)
      return { do: 'delay', milliseconds: 20 }
    }
    for (const number of numbersBelow(30)) {
      queue.add(tenant.prompt.publicId, { value: 'positive', metadata: { number } })
      // Signals that are added at once share a request.
      await new Promise(setImmediate)
    }
    await queue.close()
    assert.equal(maxInFlight, 3)
  })

  test('a full queue drops further signals and reports them', async () => {
    const tenant = await service.tenant()
    const { dropped, onError } = errorRecorder()
    const queue = service.queue(tenant, { maxSize: 3, concurrency: 2, onError })
    proxy.fate = () => ({ do: 'delay', milliseconds: 50 })
    const accepted = numbersBelow(5).map((number) =>
      queue.add(tenant.prompt.publicId, { value: 'negative', metadata: { number } }),
    )
    assert.deepEqual(accepted, [true, true, true, false, false])
    assert.deepEqual(
      dropped.map(({ error, signal }) => [(error as PromptledgerError).code, signal?.promptId, signal?.signal]),
      [3, 4].map((number) => ['queue_full', tenant.prompt.publicId, { value: 'negative', metadata: { number } }]),
    )
    await queue.flush()
    assert.equal(queue.add(tenant.prompt.publicId, { value: 'positive', metadata: { number: 5 } }), true)
    await queue.close()
    assert.deepEqual(await service.recordedNumbers(tenant), [0, 1, 2, 5])
  })

  test('a queue reports a signal that failed and sends the others', async () => {
    const tenant = await service.tenant()
    const { dropped, onError } = errorRecorder()
    const queue = service.queue(tenant, { onError, maxRetries: 0 })
    queue.add('pmt_none', { value: 'positive' }, { idempotencyKey: 'mine' })
    await queue.flush()
    assert.ok(dropped[0]?.error instanceof NotFoundError)
    assert.deepEqual(dropped[0]?.signal, { key: 'mine', promptId: 'pmt_none', signal: { value: 'positive' } })
    proxy.requests = []
    proxy.first({ do: 'cut' })
    for (const number of numbersBelow(3)) {
      queue.add(tenant.prompt.publicId, { value: 'positive', metadata: { number } })
      await queue.flush()
    }
    assert.ok(dropped[1]?.error instanceof ConnectionError)
    assert.equal(dropped.length, 2)
    assert.deepEqual(await service.recordedNumbers(tenant), numbersBelow(3))
  })

  test('changing a signal after adding it does not change what the queue sends', async () => {
    const tenant = await service.tenant()
    const { dropped, onError } = errorRecorder()
    const queue = service.queue(tenant, { onError })
    const metadata: Record<string, unknown> = { number: 1 }
    queue.add(tenant.prompt.publicId, { value: 'positive', metadata })
    metadata.number = 2
    metadata.itself = metadata
    assert.equal(queue.add(tenant.prompt.publicId, { value: 'positive', metadata }), false)
    assert.ok(dropped[0]?.error instanceof TypeError)
    await queue.close()
    assert.deepEqual(await service.recordedNumbers(tenant), [1])
  })

  test('a queue records each signal once when one request in five fails', async () => {
    const tenant = await service.tenant()
    const { dropped, onError } = errorRecorder()
    const queue = service.queue(tenant, { onError, concurrency: 50 })
    const fates: Fate[] = [{ do: 'refuse' }, { do: 'cut' }, { do: 'truncate', after: 30 }, { do: 'duplicate' }]
    proxy.fate = (number) => (number % 5 === 0 ? (fates[(number / 5) % 4] as Fate) : { do: 'pass' })
    for (const number of numbersBelow(500))
      queue.add(tenant.prompt.publicId, { value: 'positive', metadata: { number } })
    await queue.close()
    assert.deepEqual(dropped, [])
    assert.deepEqual(await service.recordedNumbers(tenant), numbersBelow(500))
    assert.equal(await tenant.used(), 500)
  })

  test('signals with the same idempotency key count once', async () => {
    const tenant = await service.tenant()
    const queue = service.queue(tenant)
    for (let click = 0; click < 3; click++) {
      queue.add(tenant.prompt.publicId, { value: 'positive' }, { idempotencyKey: 'vote-1' })
    }
    await queue.close()
    assert.equal(await tenant.used(), 1)
  })

  test('flush waits for the signals added before it, and for no others', async () => {
    const tenant = await service.tenant()
    const queue = service.queue(tenant, { concurrency: 1 })
    queue.add(tenant.prompt.publicId, { value: 'positive', metadata: { number: 0 } })
    const flushed = queue.flush()
    proxy.fate = (number) => ({ do: 'delay', milliseconds: number === 0 ? 0 : 1_000 })
    // Signals that are added at once share a request.
    await new Promise(setImmediate)
    queue.add(tenant.prompt.publicId, { value: 'positive', metadata: { number: 1 } })
    await flushed
    assert.equal(await tenant.used(), 1)
    await queue.close()
    assert.equal(await tenant.used(), 2)
  })

  test('a closed queue drops further signals', async () => {
    const tenant = await service.tenant()
    const { dropped, onError } = errorRecorder()
    const queue = service.queue(tenant, { onError })
    queue.add(tenant.prompt.publicId, { value: 'positive', metadata: { number: 0 } })
    const closed = queue.close()
    assert.equal(queue.add(tenant.prompt.publicId, { value: 'positive' }), false)
    assert.ok(dropped[0]?.error instanceof PromptledgerError && dropped[0].error.code === 'queue_closed')
    await Promise.all([closed, queue.close()])
    assert.deepEqual(await service.recordedNumbers(tenant), [0])
  })

  test('close stops at its timeout and reports the signals it dropped', async () => {
    const tenant = await service.tenant()
    const { dropped, onError } = errorRecorder()
    const queue = service.queue(tenant, { onError, concurrency: 2 })
    proxy.fate = (_, { body }) => ({ do: 'delay', milliseconds: body.includes('"number":0') ? 0 : 3_000 })
    for (const number of numbersBelow(6)) {
      queue.add(tenant.prompt.publicId, { value: 'positive', metadata: { number } })
      // Signals that are added at once share a request.
      await new Promise(setImmediate)
    }
    await eventually(() => assert.equal(queue.size, 5))
    const start = performance.now()
    await queue.close({ timeout: 200 })
    assert.ok(performance.now() - start < 2_500)
    assert.ok(dropped.every(({ error }) => error instanceof TimeoutError))
    assert.deepEqual(dropped.map(({ signal }) => signal?.signal.metadata?.number).sort(), [1, 2, 3, 4, 5])
  })
})
