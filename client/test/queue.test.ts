import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { sqlite } from '../../testing/engines.ts'
import type { Fate } from '../../testing/http-proxy.ts'
import type { Tenant } from '../../testing/service.ts'
import { ConnectionError, NotFoundError, PromptledgerError, type QueuedSignal, TimeoutError } from '../src/index.ts'
import { useLiveService } from './ledger.ts'

describe('A queue', () => {
  const service = useLiveService(sqlite)
  const { proxy } = service

  /** Collects what was lost. */
  function losses() {
    const lost: { error: unknown; signal: QueuedSignal | null }[] = []
    return { lost, onError: (error: unknown, signal: QueuedSignal | null) => lost.push({ error, signal }) }
  }

  async function numbersOf(tenant: Tenant): Promise<number[]> {
    const numbers: number[] = []
    for await (const { metadata } of service.ledger(tenant).signals.export(tenant.prompt.publicId)) {
      numbers.push(Number(metadata?.number))
    }
    return numbers.sort((a, b) => a - b)
  }

  const upTo = (count: number) => Array.from({ length: count }, (_, number) => number)

  test('takes signals at once and sends them in the background', async () => {
    const tenant = await service.tenant()
    const { lost, onError } = losses()
    const queue = service.ledger(tenant).signals.queue({ onError })
    for (const number of upTo(50)) {
      assert.equal(queue.add(tenant.prompt.publicId, { value: 'positive', metadata: { number } }), true)
    }
    assert.equal(queue.size, 50)
    await queue.flush()
    assert.equal(queue.size, 0)
    assert.deepEqual(await numbersOf(tenant), upTo(50))
    assert.deepEqual(lost, [])
  })

  test('sends no more at the same time than it may', async () => {
    const tenant = await service.tenant()
    const queue = service.ledger(tenant).signals.queue({ concurrency: 3 })
    let most = 0
    proxy.fate = () => {
      most = Math.max(most, proxy.underWay)
      return { do: 'delay', milliseconds: 20 }
    }
    for (const number of upTo(30)) queue.add(tenant.prompt.publicId, { value: 'positive', metadata: { number } })
    await queue.close()
    assert.equal(most, 3)
  })

  test('takes no more than it may hold, and says what it gave up', async () => {
    const tenant = await service.tenant()
    const { lost, onError } = losses()
    const queue = service.ledger(tenant).signals.queue({ size: 3, concurrency: 2, onError })
    proxy.fate = () => ({ do: 'delay', milliseconds: 50 })
    const taken = upTo(5).map((number) =>
      queue.add(tenant.prompt.publicId, { value: 'negative', metadata: { number } }),
    )
    assert.deepEqual(taken, [true, true, true, false, false])
    assert.deepEqual(
      lost.map(({ error, signal }) => [(error as PromptledgerError).code, signal?.promptId, signal?.signal]),
      [3, 4].map((number) => ['queue_full', tenant.prompt.publicId, { value: 'negative', metadata: { number } }]),
    )
    await queue.flush()
    assert.equal(queue.add(tenant.prompt.publicId, { value: 'positive', metadata: { number: 5 } }), true)
    await queue.close()
    assert.deepEqual(await numbersOf(tenant), [0, 1, 2, 5])
  })

  test('tells what finally failed and goes on with the others', async () => {
    const tenant = await service.tenant()
    const { lost, onError } = losses()
    const queue = service.ledger(tenant).signals.queue({ onError, maxRetries: 0, concurrency: 1 })
    proxy.first({ do: 'pass' }, { do: 'pass' }, { do: 'cut' })
    queue.add('pmt_none', { value: 'positive' }, { idempotencyKey: 'mine' })
    for (const number of upTo(3)) queue.add(tenant.prompt.publicId, { value: 'positive', metadata: { number } })
    await queue.flush()
    assert.ok(lost[0]?.error instanceof NotFoundError)
    assert.deepEqual(lost[0]?.signal, { key: 'mine', promptId: 'pmt_none', signal: { value: 'positive' } })
    assert.ok(lost[1]?.error instanceof ConnectionError)
    assert.equal(lost.length, 2)
    assert.deepEqual(await numbersOf(tenant), upTo(3))
  })

  test('sends what it was given, not what became of it', async () => {
    const tenant = await service.tenant()
    const { lost, onError } = losses()
    const queue = service.ledger(tenant).signals.queue({ onError })
    const metadata: Record<string, unknown> = { number: 1 }
    queue.add(tenant.prompt.publicId, { value: 'positive', metadata })
    metadata.number = 2
    metadata.itself = metadata
    assert.equal(queue.add(tenant.prompt.publicId, { value: 'positive', metadata }), false)
    assert.ok(lost[0]?.error instanceof TypeError)
    await queue.close()
    assert.deepEqual(await numbersOf(tenant), [1])
  })

  test('counts each signal once through a connection that fails one time in five', async () => {
    const tenant = await service.tenant()
    const { lost, onError } = losses()
    const queue = service.ledger(tenant).signals.queue({ onError, concurrency: 50 })
    const fates: Fate[] = [{ do: 'refuse' }, { do: 'cut' }, { do: 'truncate', after: 30 }, { do: 'duplicate' }]
    proxy.fate = (number) => (number % 5 === 0 ? (fates[(number / 5) % 4] as Fate) : { do: 'pass' })
    for (const number of upTo(500)) queue.add(tenant.prompt.publicId, { value: 'positive', metadata: { number } })
    await queue.close()
    assert.deepEqual(lost, [])
    assert.deepEqual(await numbersOf(tenant), upTo(500))
    assert.equal(await tenant.used(), 500)
  })

  test('counts signals under the same key of the caller once', async () => {
    const tenant = await service.tenant()
    const queue = service.ledger(tenant).signals.queue()
    for (let click = 0; click < 3; click++) {
      queue.add(tenant.prompt.publicId, { value: 'positive' }, { idempotencyKey: 'vote-1' })
    }
    await queue.close()
    assert.equal(await tenant.used(), 1)
  })

  test('is flushed when what was added before has arrived, whatever is added since', async () => {
    const tenant = await service.tenant()
    const queue = service.ledger(tenant).signals.queue({ concurrency: 1 })
    queue.add(tenant.prompt.publicId, { value: 'positive', metadata: { number: 0 } })
    const flushed = queue.flush()
    proxy.fate = (number) => ({ do: 'delay', milliseconds: number === 0 ? 0 : 1_000 })
    queue.add(tenant.prompt.publicId, { value: 'positive', metadata: { number: 1 } })
    await flushed
    assert.equal(await tenant.used(), 1)
    await queue.close()
    assert.equal(await tenant.used(), 2)
  })

  test('that is closed takes no more', async () => {
    const tenant = await service.tenant()
    const { lost, onError } = losses()
    const queue = service.ledger(tenant).signals.queue({ onError })
    queue.add(tenant.prompt.publicId, { value: 'positive', metadata: { number: 0 } })
    const closed = queue.close()
    assert.equal(queue.add(tenant.prompt.publicId, { value: 'positive' }), false)
    assert.ok(lost[0]?.error instanceof PromptledgerError && lost[0].error.code === 'queue_closed')
    await Promise.all([closed, queue.close()])
    assert.deepEqual(await numbersOf(tenant), [0])
  })

  test('closes in the time it is given, and says what it gave up', async () => {
    const tenant = await service.tenant()
    const { lost, onError } = losses()
    const queue = service.ledger(tenant).signals.queue({ onError, concurrency: 2 })
    proxy.fate = (_, { body }) => ({ do: 'delay', milliseconds: body.includes('"number":0') ? 0 : 3_000 })
    for (const number of upTo(6)) queue.add(tenant.prompt.publicId, { value: 'positive', metadata: { number } })
    await pause(300)
    const begin = performance.now()
    await queue.close({ timeout: 200 })
    assert.ok(performance.now() - begin < 1_000)
    assert.ok(lost.every(({ error }) => error instanceof TimeoutError))
    assert.deepEqual(lost.map(({ signal }) => signal?.signal.metadata?.number).sort(), [1, 2, 3, 4, 5])
  })
})
