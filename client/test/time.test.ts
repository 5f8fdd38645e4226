import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { sqlite } from '../../testing/engines.ts'
import { PromptledgerError, TimeoutError } from '../src/index.ts'
import { useLiveService } from './ledger.ts'

describe('Time', () => {
  const service = useLiveService(sqlite)
  const { proxy } = service

  test('is up for an attempt that gets no answer; then comes the next', async () => {
    const tenant = await service.tenant()
    const ledger = service.ledger(tenant, { timeout: 300 })
    proxy.first({ do: 'delay', milliseconds: 1_000 })
    await ledger.signals.create(tenant.prompt.publicId, { value: 'positive' })
    assert.equal(proxy.passed.length, 2)
    // The first one arrives after all.
    await pause(1_100)
    assert.equal(await tenant.used(), 1)
  })

  test('is up for an answer that does not end', async () => {
    const ledger = service.ledger(await service.tenant(), { timeout: 300 })
    proxy.first({ do: 'stall', after: 10 })
    await ledger.usage.get()
    assert.equal(proxy.passed.length, 2)
  })

  test('is up in the end', async () => {
    const ledger = service.ledger(await service.tenant(), { timeout: 60_000 })
    proxy.fate = () => ({ do: 'delay', milliseconds: 1_000 })
    await assert.rejects(ledger.usage.get({ timeout: 100, maxRetries: 1 }), (error) => {
      assert.ok(error instanceof TimeoutError && error instanceof PromptledgerError)
      assert.deepEqual([error.name, error.code, error.status], ['TimeoutError', 'timeout', null])
      assert.equal(error.message, 'No answer within 100 ms')
      return true
    })
    assert.equal(proxy.passed.length, 2)
  })

  test('has no end where none is wanted', async () => {
    const ledger = service.ledger(await service.tenant(), { timeout: Number.POSITIVE_INFINITY })
    proxy.first({ do: 'delay', milliseconds: 200 })
    await ledger.usage.get()
    assert.equal(proxy.passed.length, 1)
  })
})

describe('A caller who wants to stop', () => {
  const service = useLiveService(sqlite)
  const { proxy } = service
  const reason = new Error('the user went away')

  test('before the call sends nothing', async () => {
    const ledger = service.ledger(await service.tenant())
    await assert.rejects(ledger.usage.get({ signal: AbortSignal.abort(reason) }), reason)
    assert.equal(proxy.passed.length, 0)
  })

  test('while waiting for an answer waits no longer, and it is not tried again', async () => {
    const ledger = service.ledger(await service.tenant())
    proxy.fate = () => ({ do: 'delay', milliseconds: 2_000 })
    const controller = new AbortController()
    const call = ledger.usage.get({ signal: controller.signal })
    setTimeout(() => controller.abort(reason), 100)
    const begin = performance.now()
    await assert.rejects(call, reason)
    assert.ok(performance.now() - begin < 1_000)
    await pause(600)
    assert.equal(proxy.passed.length, 1)
  })

  test('while pausing before the next attempt waits no longer', async () => {
    const controller = new AbortController()
    const ledger = service.ledger(await service.tenant(), { signal: controller.signal })
    proxy.fate = () => ({ do: 'answer', status: 503, headers: { 'Retry-After': '30' } })
    const call = ledger.usage.get()
    setTimeout(() => controller.abort(reason), 300)
    const begin = performance.now()
    await assert.rejects(call, reason)
    assert.ok(performance.now() - begin < 2_000)
    assert.equal(proxy.passed.length, 1)
  })

  test('fails with what AbortSignal itself says, where no reason is given', async () => {
    const ledger = service.ledger(await service.tenant())
    proxy.fate = () => ({ do: 'delay', milliseconds: 2_000 })
    await assert.rejects(ledger.usage.get({ signal: AbortSignal.timeout(50) }), { name: 'TimeoutError', code: 23 })
  })

  test('leaves nothing on a signal that lives long', async () => {
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
