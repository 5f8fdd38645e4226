import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { onOneEngine, sqlite } from '../../testing/engines.ts'
import { eventually } from '../../testing/eventually.ts'
import type { Fate } from '../../testing/http-proxy.ts'
import { ConnectionError, NotFoundError, PromptledgerError } from '../src/index.ts'
import { useLiveService } from './live-service.ts'

onOneEngine('Retries', (engine) => {
  const service = useLiveService(engine)
  const { proxy } = service

  const failures: Record<string, Fate> = {
    'the connection breaks before the request arrives': { do: 'refuse' },
    'the response is lost': { do: 'cut' },
    'the response is cut off': { do: 'truncate', after: 20 },
    'the network duplicates the request': { do: 'duplicate' },
    'a proxy times out': { do: 'respond', status: 504, body: '<h1>Gateway Timeout</h1>' },
  }
  for (const [failure, fate] of Object.entries(failures)) {
    test(`a signal counts once when ${failure}`, async () => {
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

  test('deleting a signal succeeds on a retry when the first response was lost', async () => {
    const tenant = await service.tenant()
    const ledger = service.ledger(tenant)
    const { id } = await ledger.signals.create(tenant.prompt.publicId, { value: 'positive' })
    proxy.requests = []
    proxy.first({ do: 'cut' })
    await ledger.signals.delete(tenant.prompt.publicId, id)
    assert.equal(proxy.requests.length, 2)
    await assert.rejects(ledger.signals.delete(tenant.prompt.publicId, id), NotFoundError)
  })

  test('a key is never created twice', async () => {
    const tenant = await service.tenant('free', 'admin')
    const ledger = service.ledger(tenant)
    for (const fate of ['cut', 'refuse'] as const) {
      proxy.requests = []
      proxy.first({ do: fate })
      await assert.rejects(ledger.keys.create({ name: fate }), ConnectionError)
      assert.equal(proxy.requests.length, 1)
    }
    proxy.reset()
    proxy.first({ do: 'respond', status: 503 })
    await assert.rejects(ledger.keys.create(), PromptledgerError)
    assert.equal(proxy.requests.length, 1)
    const { data } = await ledger.keys.list()
    assert.deepEqual(
      data.map(({ name }) => name),
      ['test', 'cut'],
    )
  })
})

describe('Retry policy', () => {
  const service = useLiveService(sqlite)
  const { proxy } = service
  const busy: Fate = { do: 'respond', status: 503, body: 'busy' }

  function gaps(): number[] {
    return proxy.requests.slice(1).map(({ at }, index) => at - (proxy.requests[index]?.at ?? 0))
  }

  test('a failed call is retried three times, with exponential backoff and jitter', async () => {
    const ledger = service.ledger(await service.tenant())
    proxy.fate = () => busy
    const runs = await Promise.all(
      Array.from({ length: 20 }, async (_, run) => {
        const headers = { run: String(run) }
        await assert.rejects(ledger.usage.get({ headers }), (error: PromptledgerError) => error.status === 503)
        return proxy.requests.filter(({ headers }) => headers.run === String(run)).map(({ at }) => at)
      }),
    )
    const firstGaps: number[] = []
    for (const [first = 0, second = 0, third = 0, fourth = 0, ...more] of runs) {
      assert.equal(more.length, 0)
      firstGaps.push(second - first)
      for (const [gap, maxDelayMs] of [
        [second - first, 500],
        [third - second, 1_000],
        [fourth - third, 2_000],
      ] as const) {
        // A slow machine adds to the delay, but never shortens it.
        assert.ok(
          gap >= maxDelayMs / 2 - 5 && gap < maxDelayMs + 3_000,
          `${gap} ms with a delay of up to ${maxDelayMs} ms`,
        )
      }
    }
    // Jitter spreads them over 250 ms.
    assert.ok(Math.max(...firstGaps) - Math.min(...firstGaps) > 100, 'all calls were retried at the same time')
  })

  test('maxRetries can be set for a client and for a call', async () => {
    const ledger = service.ledger(await service.tenant(), { maxRetries: 1 })
    proxy.fate = () => busy
    await assert.rejects(ledger.usage.get())
    assert.equal(proxy.requests.length, 2)
    proxy.requests = []
    await assert.rejects(ledger.usage.get({ maxRetries: 0 }))
    assert.equal(proxy.requests.length, 1)
  })

  test('a retry waits for Retry-After, in seconds or as a date', async () => {
    const ledger = service.ledger(await service.tenant())
    const busyFor = (retryAfter: string): Fate => ({ ...busy, headers: { 'Retry-After': retryAfter } }) as Fate
    const gapsOf = async (calls: number, fate: Fate): Promise<number[]> => {
      const found: number[] = []
      for (let call = 0; call < calls; call++) {
        proxy.reset()
        proxy.first(fate)
        await ledger.usage.get()
        found.push(...gaps())
      }
      return found
    }
    proxy.first(busyFor('2'))
    await ledger.usage.get()
    assert.ok((gaps()[0] ?? 0) >= 1_990, `${gaps()[0]}`)
    // Shorter than any backoff, unless the machine was busy.
    const shortest = Math.min(...(await gapsOf(10, busyFor('0'))))
    assert.ok(shortest < 240, `${shortest}`)
    // HTTP dates have a resolution of one second.
    const date = new Date(Date.now() + 3_000).toUTCString()
    proxy.reset()
    proxy.first(busyFor(date))
    await ledger.usage.get()
    assert.equal(proxy.requests.length, 2)
    // A timer may be a few milliseconds early.
    assert.ok(Date.now() >= Date.parse(date) - 10, date)
  })

  test('a call fails at once when Retry-After is more than a minute', async () => {
    const ledger = service.ledger(await service.tenant())
    proxy.first({ ...busy, headers: { 'Retry-After': '3600' } } as Fate)
    await assert.rejects(ledger.usage.get(), (error: PromptledgerError) => error.status === 503)
    assert.equal(proxy.requests.length, 1)
  })

  test('a 4xx response is never retried', async () => {
    const ledger = service.ledger(await service.tenant())
    for (const status of [400, 401, 403, 404, 408, 409, 413, 422, 429]) {
      proxy.requests = []
      proxy.first({ do: 'respond', status, headers: { 'Retry-After': '0' } })
      await assert.rejects(ledger.usage.get(), (error: PromptledgerError) => error.status === status)
      assert.equal(proxy.requests.length, 1, String(status))
    }
  })

  test('retries send the same body under the same idempotency key, and each call has its own', async () => {
    const tenant = await service.tenant()
    const ledger = service.ledger(tenant)
    const metadata = { when: new Date(), text: 'ü' }
    proxy.first({ do: 'cut' }, { do: 'cut' })
    await ledger.signals.create(tenant.prompt.publicId, { value: 'positive', metadata })
    await ledger.signals.create(tenant.prompt.publicId, { value: 'positive', metadata })
    const keys = proxy.requests.map(({ headers }) => headers['idempotency-key'])
    assert.match(String(keys[0]), /^[0-9a-f]{32}$/)
    assert.deepEqual(keys.slice(0, 3), Array(3).fill(keys[0]))
    assert.notEqual(keys[3], keys[0])
    assert.equal(new Set(proxy.requests.map(({ body }) => body)).size, 1)
    assert.equal(await tenant.used(), 2)
  })

  test('two calls with the same idempotency key count once', async () => {
    const tenant = await service.tenant()
    const ledger = service.ledger(tenant)
    const create = () =>
      ledger.signals.create(tenant.prompt.publicId, { value: 'positive' }, { idempotencyKey: 'vote-1' })
    assert.deepEqual(await create(), await create())
    assert.equal(await tenant.used(), 1)
  })

  test('every call is retried when no connection was established', async () => {
    const tenant = await service.tenant('free', 'admin')
    let failedAttempts = 0
    const countingFetch: typeof fetch = (input, init) =>
      fetch(input, init).catch((error) => {
        failedAttempts++
        throw error
      })
    // A busy machine may need more than the default number of attempts to open the proxy again.
    const ledger = service.ledger(tenant, { fetch: countingFetch, maxRetries: 10 })
    const port = Number(new URL(proxy.address).port)
    await proxy.close()
    // Until fetch has discarded its pooled connections, whose failure would not prove that no request arrived.
    await eventually(() => assert.rejects(fetch(proxy.address), ({ cause }) => cause.code === 'ECONNREFUSED'))
    const created = ledger.keys.create({ name: 'retried' })
    await eventually(() => assert.ok(failedAttempts >= 1), { intervalMs: 5 })
    await proxy.open(Number(new URL(service.address).port), port)
    assert.equal((await created).name, 'retried')
    assert.equal(proxy.requests.length, 1)
  })

  test('a history entry is recorded once when the first response was lost', async () => {
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
