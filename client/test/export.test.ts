import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { onEachEngine } from '../../testing/engines.ts'
import { ConnectionError, NotFoundError, type Signal, TimeoutError, ValidationError } from '../src/index.ts'
import { useLiveService } from './ledger.ts'

onEachEngine('An export', (engine) => {
  const service = useLiveService(engine)
  const { proxy } = service

  async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
    const found: T[] = []
    for await (const item of items) found.push(item)
    return found
  }

  test('gives every signal as it was recorded, oldest first', async () => {
    const tenant = await service.tenant()
    const ledger = service.ledger(tenant)
    const { publicId } = tenant.prompt
    const recorded: Signal[] = []
    for (let number = 0; number < 30; number++) {
      const metadata = number % 3 === 0 ? null : { number, text: 'line\nbreak, "quotes" and 日本語 🙂' }
      const value = number % 2 === 0 ? 'positive' : 'negative'
      recorded.push({ ...(await ledger.signals.create(publicId, { value, metadata })), metadata })
      service.now += 1_000
    }
    assert.deepEqual(await all(ledger.signals.export(publicId)), recorded)
    const since = new Date(recorded[10]?.created_at ?? 0)
    const some = await all(ledger.signals.export(publicId, { value: 'negative', since, format: 'ndjson' }))
    assert.deepEqual(
      some,
      recorded.slice(10).filter(({ value }) => value === 'negative'),
    )
    const csv = (await all(ledger.signals.export(publicId, { format: 'csv', until: since }))).join('')
    const lines = csv.split('\r\n')
    assert.equal(lines[0], 'id,value,created_at,metadata')
    assert.equal(lines.length, 12)
    assert.match(csv, /日本語 🙂/)
  })

  test('is read while it arrives, and no longer than wanted', async () => {
    const tenant = await service.tenant()
    await tenant.fill(100_000)
    const ledger = service.ledger(tenant)
    // What has arrived can be read although the rest never will.
    proxy.first({ do: 'stall', after: 200_000 })
    let count = 0
    for await (const { value } of ledger.signals.export(tenant.prompt.publicId)) {
      assert.equal(value, 'positive')
      count++
      if (count === 1_000) break
    }
    // By then the connection is closed, or will never be.
    for (let wait = 0; wait < 100 && proxy.underWay > 0; wait++) await pause(20)
    assert.equal(proxy.underWay, 0)
  })

  test('that breaks off fails: what came before it is not all', async () => {
    const tenant = await service.tenant()
    await tenant.fill(1_000)
    const ledger = service.ledger(tenant)
    proxy.first({ do: 'truncate', after: 10_000 })
    const seen: Signal[] = []
    await assert.rejects(async () => {
      for await (const signal of ledger.signals.export(tenant.prompt.publicId)) seen.push(signal)
    }, ConnectionError)
    assert.ok(seen.length > 50 && seen.length < 1_000)
    assert.equal(proxy.passed.length, 1)
    // Also where nothing but the missing line end tells.
    proxy.reset()
    proxy.first({ do: 'answer', status: 200, body: '{"id":1}\n{"id":2' })
    await assert.rejects(all(ledger.signals.export(tenant.prompt.publicId)), ConnectionError)
  })

  test('that stops arriving fails, but may wait for whoever reads it', async () => {
    const tenant = await service.tenant()
    await tenant.fill(20_000)
    const ledger = service.ledger(tenant, { timeout: 2_000 })
    let count = 0
    for await (const _ of ledger.signals.export(tenant.prompt.publicId)) {
      if (count++ === 10) await pause(2_500)
    }
    assert.equal(count, 20_000)
    proxy.fate = () => ({ do: 'stall', after: 10_000 })
    const options = { timeout: 1_000, maxRetries: 0 }
    const seen: Signal[] = []
    await assert.rejects(async () => {
      for await (const signal of ledger.signals.export(tenant.prompt.publicId, {}, options)) seen.push(signal)
    }, TimeoutError)
    assert.ok(seen.length > 50)
  })

  test('ends when the caller wants to stop', async () => {
    const tenant = await service.tenant()
    await tenant.fill(1_000)
    const ledger = service.ledger(tenant)
    proxy.first({ do: 'stall', after: 10_000 })
    const controller = new AbortController()
    setTimeout(() => controller.abort(new Error('enough')), 200)
    await assert.rejects(
      all(ledger.signals.export(tenant.prompt.publicId, {}, { signal: controller.signal })),
      /^Error: enough$/,
    )
  })

  test('is tried again as long as nothing has come, and refused as everything is', async () => {
    const tenant = await service.tenant()
    await tenant.fill(10)
    const ledger = service.ledger(tenant)
    proxy.first({ do: 'refuse' }, { do: 'answer', status: 503 })
    assert.equal((await all(ledger.signals.export(tenant.prompt.publicId))).length, 10)
    assert.equal(proxy.passed.length, 3)
    await assert.rejects(all(ledger.signals.export('pmt_none')), NotFoundError)
    const wrong = { value: 'so-so' } as never
    await assert.rejects(all(ledger.signals.export(tenant.prompt.publicId, wrong)), ValidationError)
  })
})
