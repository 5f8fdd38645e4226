import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { onOneEngine } from '../../testing/engines.ts'
import { eventually } from '../../testing/eventually.ts'
import { ConnectionError, NotFoundError, type Signal, TimeoutError, ValidationError } from '../src/index.ts'
import { useLiveService } from './live-service.ts'

onOneEngine('Exporting signals', (engine) => {
  const service = useLiveService(engine)
  const { proxy } = service

  test('an export returns every signal as recorded, oldest first', async () => {
    const tenant = await service.tenant()
    const ledger = service.ledger(tenant)
    const { publicId } = tenant.prompt
    const recorded: Signal[] = []
    for (let number = 0; number < 30; number++) {
      const metadata = number % 3 === 0 ? null : { number, text: 'line\nbreak, "quotes" and 日本語 🙂' }
      const value = number % 2 === 0 ? 'positive' : 'negative'
      const created = await ledger.signals.create(publicId, { value, metadata })
      const details = { version: null, subject: null, voter: null, comment: null, trace_id: null }
      recorded.push({ ...created, value, metadata, ...details, occurred_at: created.created_at })
      service.now += 1_000
    }
    assert.deepEqual(await Array.fromAsync(ledger.signals.export(publicId)), recorded)
    const since = new Date(recorded[10]?.created_at ?? 0)
    const negative = await Array.fromAsync(
      ledger.signals.export(publicId, { value: 'negative', since, format: 'ndjson' }),
    )
    assert.deepEqual(
      negative,
      recorded.slice(10).filter(({ value }) => value === 'negative'),
    )
    const csv = (await Array.fromAsync(ledger.signals.export(publicId, { format: 'csv', until: since }))).join('')
    const lines = csv.split('\r\n')
    assert.equal(lines[0], 'id,value,created_at,metadata,version,subject,voter,comment,occurred_at,trace_id')
    assert.equal(lines.length, 12)
    assert.match(csv, /日本語 🙂/)
  })

  test('an export is read as it arrives, and its connection closes when the caller stops reading', async () => {
    const tenant = await service.tenant()
    await tenant.fillMonth(100_000)
    const ledger = service.ledger(tenant)
    // The rest never arrives, which must not keep the caller from reading the beginning.
    proxy.first({ do: 'stall', after: 200_000 })
    let count = 0
    for await (const { value } of ledger.signals.export(tenant.prompt.publicId)) {
      assert.equal(value, 'positive')
      count++
      if (count === 500) break
    }
    await eventually(() => assert.equal(proxy.inFlight, 0))
  })

  test('an export that is cut off fails instead of looking complete', async () => {
    const tenant = await service.tenant()
    await tenant.fillMonth(1_000)
    const ledger = service.ledger(tenant)
    proxy.first({ do: 'truncate', after: 10_000 })
    const seen: Signal[] = []
    await assert.rejects(async () => {
      for await (const signal of ledger.signals.export(tenant.prompt.publicId)) seen.push(signal)
    }, ConnectionError)
    assert.ok(seen.length > 20 && seen.length < 1_000)
    assert.equal(proxy.requests.length, 1)
    // A proxy may end the response cleanly: then only the incomplete line shows it.
    proxy.reset()
    proxy.first({ do: 'respond', status: 200, body: '{"id":1}\n{"id":2' })
    await assert.rejects(Array.fromAsync(ledger.signals.export(tenant.prompt.publicId)), ConnectionError)
  })

  test('an export times out when no data arrives, but not while its caller is busy', async () => {
    const tenant = await service.tenant()
    await tenant.fillMonth(20_000)
    const timeout = 2_000
    const ledger = service.ledger(tenant, { timeout })
    let count = 0
    for await (const _ of ledger.signals.export(tenant.prompt.publicId)) {
      if (count++ === 10) await pause(timeout + 500)
    }
    assert.equal(count, 20_000)
    proxy.fate = () => ({ do: 'stall', after: 10_000 })
    const options = { timeout, maxRetries: 0 }
    const seen: Signal[] = []
    await assert.rejects(async () => {
      for await (const signal of ledger.signals.export(tenant.prompt.publicId, {}, options)) seen.push(signal)
    }, TimeoutError)
    assert.ok(seen.length > 20)
  })

  test('aborting an export ends it with the reason of the abort', async () => {
    const tenant = await service.tenant()
    await tenant.fillMonth(1_000)
    const ledger = service.ledger(tenant)
    proxy.first({ do: 'stall', after: 10_000 })
    const controller = new AbortController()
    await assert.rejects(async () => {
      for await (const _ of ledger.signals.export(tenant.prompt.publicId, {}, { signal: controller.signal })) {
        controller.abort(new Error('enough'))
      }
    }, /^Error: enough$/)
  })

  test('an export is retried until its response begins, and not after a 4xx', async () => {
    const tenant = await service.tenant()
    await tenant.fillMonth(10)
    const ledger = service.ledger(tenant)
    proxy.first({ do: 'refuse' }, { do: 'respond', status: 503 })
    assert.equal((await Array.fromAsync(ledger.signals.export(tenant.prompt.publicId))).length, 10)
    assert.equal(proxy.requests.length, 3)
    await assert.rejects(Array.fromAsync(ledger.signals.export('pmt_none')), NotFoundError)
    const invalid = { value: 'so-so' } as never
    await assert.rejects(Array.fromAsync(ledger.signals.export(tenant.prompt.publicId, invalid)), ValidationError)
  })
})
