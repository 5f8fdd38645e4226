import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, test } from 'node:test'
import { sqlite } from '../../testing/engines.ts'
import { eventually } from '../../testing/eventually.ts'
import { PromptledgerError, TimeoutError } from '../src/index.ts'
import { useLiveService } from './live-service.ts'

describe('Timeouts', () => {
  const service = useLiveService(sqlite)
  const { proxy } = service

  test('an attempt without a response times out and is retried', async () => {
    const tenant = await service.tenant()
    // Long enough for the second attempt on a busy machine.
    const ledger = service.ledger(tenant, { timeout: 2_000 })
    const { servedCount } = service
    proxy.first({ do: 'delay', milliseconds: 4_000 })
    await ledger.signals.create(tenant.prompt.publicId, { value: 'positive' })
    assert.equal(proxy.requests.length, 2)
    // The service still gets the first attempt, which must not count again.
    await eventually(() => assert.equal(service.servedCount, servedCount + 2))
    assert.equal(await tenant.used(), 1)
  })

  test('an attempt whose response never ends times out and is retried', async () => {
    const ledger = service.ledger(await service.tenant(), { timeout: 2_000 })
    proxy.first({ do: 'stall', after: 10 })
    await ledger.usage.get()
    assert.equal(proxy.requests.length, 2)
  })

  test('a call fails with a TimeoutError after its last retry', async () => {
    const ledger = service.ledger(await service.tenant(), { timeout: 60_000 })
    proxy.fate = () => ({ do: 'delay', milliseconds: 2_000 })
    await assert.rejects(ledger.usage.get({ timeout: 500, maxRetries: 1 }), (error) => {
      assert.ok(error instanceof TimeoutError && error instanceof PromptledgerError)
      assert.deepEqual([error.name, error.code, error.status], ['TimeoutError', 'timeout', null])
      assert.equal(error.message, 'No response within 500 ms')
      return true
    })
    assert.equal(proxy.requests.length, 2)
  })

  test('an infinite timeout waits for the response', async () => {
    const ledger = service.ledger(await service.tenant(), { timeout: Number.POSITIVE_INFINITY })
    proxy.first({ do: 'delay', milliseconds: 200 })
    await ledger.usage.get()
    assert.equal(proxy.requests.length, 1)
  })
})

describe('Aborting a call', () => {
  const service = useLiveService(sqlite)
  const { proxy } = service
  const reason = new Error('the user left')

  test('a call that is aborted before it starts sends no request', async () => {
    const ledger = service.ledger(await service.tenant())
    await assert.rejects(ledger.usage.get({ signal: AbortSignal.abort(reason) }), reason)
    assert.equal(proxy.requests.length, 0)
  })

  test('a call that is aborted while it waits for a response ends at once and is not retried', async () => {
    const ledger = service.ledger(await service.tenant())
    proxy.fate = () => ({ do: 'delay', milliseconds: 5_000 })
    const controller = new AbortController()
    const rejected = assert.rejects(ledger.usage.get({ signal: controller.signal }), reason)
    await eventually(() => assert.equal(proxy.requests.length, 1))
    const start = performance.now()
    controller.abort(reason)
    await rejected
    assert.ok(performance.now() - start < 4_000)
    assert.equal(proxy.requests.length, 1)
  })

  test('a call that is aborted between two attempts ends at once', async () => {
    const controller = new AbortController()
    const ledger = service.ledger(await service.tenant(), { signal: controller.signal })
    proxy.fate = () => ({ do: 'respond', status: 503, headers: { 'Retry-After': '30' } })
    const rejected = assert.rejects(ledger.usage.get(), reason)
    await eventually(() => assert.deepEqual([proxy.requests.length, proxy.inFlight], [1, 0]))
    const start = performance.now()
    controller.abort(reason)
    await rejected
    assert.ok(performance.now() - start < 10_000)
    assert.equal(proxy.requests.length, 1)
  })

  test('a call that AbortSignal.timeout aborts rejects with the reason of that signal', async () => {
    const ledger = service.ledger(await service.tenant())
    proxy.fate = () => ({ do: 'delay', milliseconds: 2_000 })
    await assert.rejects(ledger.usage.get({ signal: AbortSignal.timeout(50) }), { name: 'TimeoutError', code: 23 })
  })

  test('a call leaves no listener on the signal of its caller', async () => {
    const tenant = await service.tenant()
    const ledger = service.ledger(tenant)
    const { signal } = new AbortController()
    proxy.first({ do: 'cut' }, { do: 'truncate', after: 5 })
    await ledger.usage.get({ signal })
    for await (const _ of ledger.signals.export(tenant.prompt.publicId, {}, { signal }));
    await assert.rejects(ledger.prompts.get('pmt_none', { signal }))
    assert.equal(getEventListeners(signal, 'abort').length, 0)
  })
})
