import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { onEachEngine, sqlite } from '../../testing/engines.ts'
import type { Fate } from '../../testing/http-proxy.ts'
import { ConnectionError, NotFoundError, PromptledgerError } from '../src/index.ts'
import { useLiveService } from './ledger.ts'

onEachEngine('Retries', (engine) => {
  const service = useLiveService(engine)
  const { proxy } = service

  const troubles: Record<string, Fate> = {
    'the connection breaks before it arrives': { do: 'refuse' },
    'its answer is lost': { do: 'cut' },
    'its answer breaks off': { do: 'truncate', after: 20 },
    'the network doubles it': { do: 'duplicate' },
    'a proxy gives up on it': { do: 'answer', status: 504, body: '<h1>Gateway Timeout</h1>' },
  }
  for (const [trouble, fate] of Object.entries(troubles)) {
    test(`count a signal once where ${trouble}`, async () => {
      const tenant = await service.tenant()
      const ledger = service.ledger(tenant)
      proxy.first(fate, fate)
      const signal = await ledger.signals.create(tenant.prompt.publicId, { value: 'positive' })
      assert.equal(signal.value, 'positive')
      assert.equal(await tenant.used(), 1)
      const { data } = await ledger.signals.list(tenant.prompt.publicId)
      assert.deepEqual(
        data.map(({ id }) => id),
        [signal.id],
      )
    })
  }

  test('take a signal back once more where the answer was lost, and call it done', async () => {
    const tenant = await service.tenant()
    const ledger = service.ledger(tenant)
    const { id } = await ledger.signals.create(tenant.prompt.publicId, { value: 'positive' })
    proxy.passed = []
    proxy.first({ do: 'cut' })
    await ledger.signals.retract(tenant.prompt.publicId, id)
    assert.equal(proxy.passed.length, 2)
    await assert.rejects(ledger.signals.retract(tenant.prompt.publicId, id), NotFoundError)
  })

  test('never make a key twice', async () => {
    const tenant = await service.tenant('free', 'admin')
    const ledger = service.ledger(tenant)
    for (const fate of ['cut', 'refuse'] as const) {
      proxy.passed = []
      proxy.first({ do: fate })
      await assert.rejects(ledger.keys.create({ name: fate }), ConnectionError)
      assert.equal(proxy.passed.length, 1)
    }
    proxy.reset()
    proxy.first({ do: 'answer', status: 503 })
    await assert.rejects(ledger.keys.create(), PromptledgerError)
    assert.equal(proxy.passed.length, 1)
    const { data } = await ledger.keys.list()
    assert.deepEqual(
      data.map(({ name }) => name),
      ['test', 'cut'],
    )
  })
})

describe('Retrying', () => {
  const service = useLiveService(sqlite)
  const { proxy } = service
  const busy: Fate = { do: 'answer', status: 503, body: 'busy' }

  function gaps(): number[] {
    return proxy.passed.slice(1).map(({ at }, index) => at - (proxy.passed[index]?.at ?? 0))
  }

  test('is done up to three times, each after a longer pause of random length', async () => {
    const ledger = service.ledger(await service.tenant())
    proxy.fate = () => busy
    const runs = await Promise.all(
      Array.from({ length: 20 }, async (_, run) => {
        const headers = { run: String(run) }
        await assert.rejects(ledger.usage.get({ headers }), (error: PromptledgerError) => error.status === 503)
        return proxy.passed.filter(({ headers }) => headers.run === String(run)).map(({ at }) => at)
      }),
    )
    const firstGaps: number[] = []
    for (const [first = 0, second = 0, third = 0, fourth = 0, ...more] of runs) {
      assert.equal(more.length, 0)
      firstGaps.push(second - first)
      for (const [gap, longest] of [
        [second - first, 500],
        [third - second, 1_000],
        [fourth - third, 2_000],
      ] as const) {
        // The machine may be slow, but the pause is never shorter.
        assert.ok(gap >= longest / 2 - 5 && gap < longest + 3_000, `${gap} ms where ${longest} is the longest`)
      }
    }
    // They lie anywhere within 250 ms.
    assert.ok(Math.max(...firstGaps) - Math.min(...firstGaps) > 100, 'all came back at the same time')
  })

  test('can be asked for less or more, for a client and for a call', async () => {
    const ledger = service.ledger(await service.tenant(), { maxRetries: 1 })
    proxy.fate = () => busy
    await assert.rejects(ledger.usage.get())
    assert.equal(proxy.passed.length, 2)
    proxy.passed = []
    await assert.rejects(ledger.usage.get({ maxRetries: 0 }))
    assert.equal(proxy.passed.length, 1)
  })

  test('waits as long as the service asks, in seconds or until a time', async () => {
    const ledger = service.ledger(await service.tenant())
    const answer = (retryAfter: string): Fate => ({ ...busy, headers: { 'Retry-After': retryAfter } }) as Fate
    proxy.first(answer('2'))
    await ledger.usage.get()
    assert.ok((gaps()[0] ?? 0) >= 1_990, `${gaps()[0]}`)
    proxy.reset()
    proxy.first(answer('0'))
    await ledger.usage.get()
    assert.ok((gaps()[0] ?? 0) < 240, `${gaps()[0]}`)
    proxy.reset()
    // HTTP knows whole seconds only.
    proxy.first(answer(new Date(Date.now() + 3_000).toUTCString()))
    await ledger.usage.get()
    assert.ok((gaps()[0] ?? 0) >= 1_900, `${gaps()[0]}`)
  })

  test('does not come back before it is asked to: where that is far off, the call fails', async () => {
    const ledger = service.ledger(await service.tenant())
    proxy.first({ ...busy, headers: { 'Retry-After': '3600' } } as Fate)
    await assert.rejects(ledger.usage.get(), (error: PromptledgerError) => error.status === 503)
    assert.equal(proxy.passed.length, 1)
  })

  test('is never done after a 4xx, whoever says it', async () => {
    const ledger = service.ledger(await service.tenant())
    for (const status of [400, 401, 403, 404, 408, 409, 413, 422, 429]) {
      proxy.passed = []
      proxy.first({ do: 'answer', status, headers: { 'Retry-After': '0' } })
      await assert.rejects(ledger.usage.get(), (error: PromptledgerError) => error.status === status)
      assert.equal(proxy.passed.length, 1, String(status))
    }
  })

  test('sends the very same signal under the same key; another call has another', async () => {
    const tenant = await service.tenant()
    const ledger = service.ledger(tenant)
    const metadata = { when: new Date(), text: 'ü' }
    proxy.first({ do: 'cut' }, { do: 'cut' })
    await ledger.signals.create(tenant.prompt.publicId, { value: 'positive', metadata })
    await ledger.signals.create(tenant.prompt.publicId, { value: 'positive', metadata })
    const keys = proxy.passed.map(({ headers }) => headers['idempotency-key'])
    assert.match(String(keys[0]), /^[0-9a-f]{32}$/)
    assert.deepEqual(keys.slice(0, 3), Array(3).fill(keys[0]))
    assert.notEqual(keys[3], keys[0])
    assert.equal(new Set(proxy.passed.map(({ body }) => body)).size, 1)
    assert.equal(await tenant.used(), 2)
  })

  test('keeps to a key that the caller gives', async () => {
    const tenant = await service.tenant()
    const ledger = service.ledger(tenant)
    const create = () =>
      ledger.signals.create(tenant.prompt.publicId, { value: 'positive' }, { idempotencyKey: 'vote-1' })
    assert.deepEqual(await create(), await create())
    assert.equal(await tenant.used(), 1)
  })

  test('is done for anything where there was not even a connection', async () => {
    const tenant = await service.tenant('free', 'admin')
    const ledger = service.ledger(tenant)
    const port = Number(new URL(proxy.address).port)
    await proxy.close()
    // Until the runtime knows that the connections it kept are gone.
    await pause(100)
    const created = ledger.keys.create({ name: 'patient' })
    await pause(100)
    await proxy.open(Number(new URL(service.address).port), port)
    assert.equal((await created).name, 'patient')
    assert.equal(proxy.passed.length, 1)
  })

  test('records a history entry once', async () => {
    const tenant = await service.tenant('free', 'admin')
    const ledger = service.ledger(tenant)
    proxy.first({ do: 'cut' })
    const entry = {
      action: 'deployed',
      user: { name: 'Ada Lovelace', email: 'ada@example.com' },
      commit_sha: 'a1'.repeat(20),
      pr_number: null,
      pr_url: null,
      branch_name: 'main',
      created_at: '2026-11-15T12:00:00.000Z',
    } as const
    const { id, ...recorded } = await ledger.history.record(tenant.prompt.publicId, entry)
    assert.deepEqual(recorded, entry)
    const { pagination } = await ledger.history.list(tenant.prompt.publicId)
    assert.equal(pagination.total_count, 1)
  })
})
