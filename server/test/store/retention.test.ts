import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import pg from 'pg'
import { startServe } from '../../../testing/command.ts'
import { type Engine, onEachEngine, postgres } from '../../../testing/engines.ts'
import { inPortions, signalOf } from '../../../testing/recording.ts'
import { openTestStore, queryRows, type Tenant, TestService, useService } from '../../../testing/service.ts'
import { eraseSignals, metadataQuery } from '../../src/domain/signals/erasure.ts'
import { removeOldSignals } from '../../src/domain/signals/retention.ts'
import type { NewSignal, SignalFilter, SignalValue, StoredSignal } from '../../src/domain/signals/signal.ts'
import { hourStart, monthStart } from '../../src/domain/time.ts'
import { partitionOf } from '../../src/store/postgres/months.ts'

const hour = 3_600_000
const day = 24 * hour
const days = 30
const everything: SignalFilter = { value: null, since: null, until: null }

/** Where the engine draws the line. */
const horizonOf = (engine: Engine, now: number) =>
  engine.name === 'SQLite' ? hourStart(now - days * day) : monthStart(now - days * day)

/** Each test has a database of its own, because the horizon is one for all. */
async function withService(
  engine: Engine,
  act: (service: TestService, tenant: Tenant) => Promise<void>,
): Promise<void> {
  const service = new TestService()
  await service.open(engine)
  try {
    await act(service, await service.tenant('free', 'admin'))
  } finally {
    await service.close()
  }
}

function made(tenant: Tenant, createdAt: number, value: SignalValue = 'positive'): NewSignal {
  const { organisation, prompt } = tenant
  return { organisationId: organisation.id, promptId: prompt.id, value, metadata: '{"user":"u-1"}', createdAt }
}

async function streamed({ service, prompt }: Tenant, filter = everything): Promise<StoredSignal[]> {
  return (await Array.fromAsync(service.store.signals.stream(prompt, filter))).flat()
}

async function paged({ service, prompt }: Tenant, filter: SignalFilter, limit: number): Promise<StoredSignal[]> {
  const seen: StoredSignal[] = []
  for (let page = 1; ; page++) {
    const { signals, totalCount } = await service.store.signals.page(prompt, filter, { page: String(page), limit })
    seen.push(...signals)
    if (signals.length === 0) {
      assert.equal(totalCount, seen.length)
      return seen
    }
  }
}

async function count(service: TestService, table: string): Promise<number> {
  const [row] = await queryRows(service.url, `select count(*) as n from ${table}`)
  return Number(row?.n)
}

onEachEngine('Retention', (engine) => {
  test('leaves lists, counts and exports that agree, whatever there is, and every sum', async () => {
    const service = new TestService()
    await service.open(engine)
    // Within an hour.
    service.now += 1_234_567
    const { now } = service
    const horizon = horizonOf(engine, now)
    // Around the line, some on the very edge, and far from it.
    const moment = fc
      .tuple(fc.constantFrom(horizon - 40 * day, horizon - day, horizon, horizon + day, now - hour), fc.integer())
      .map(([base, rest]) => base + ([-hour, -1, 0, 1, hour / 2, hour - 1, hour][Math.abs(rest) % 7] as number))
    const signals = fc.array(fc.tuple(moment, fc.constantFrom<SignalValue>('positive', 'negative')), { maxLength: 40 })
    const bound = fc.option(moment, { nil: null })
    const filter = fc.record({
      value: fc.constantFrom<SignalValue | null>(null, 'positive', 'negative'),
      since: bound,
      until: bound,
    })
    await fc.assert(
      fc.asyncProperty(signals, filter, fc.integer({ min: 1, max: 10 }), async (some, filter, limit) => {
        const { value, since, until } = filter
        fc.pre(since === null || until === null || until > since)
        const tenant = await service.tenant()
        await service.store.signals.import(inPortions(some.map(([at, value]) => made(tenant, at, value))))
        const span = { from: horizon - 60 * day, until: now + day }
        const sums = await service.store.signals.sums(tenant.prompt, span, 'day')
        await removeOldSignals(service.store.signals, days, now)
        assert.equal(await service.store.signals.keptSince(), horizon)
        const kept = some
          .filter(([at]) => at >= horizon)
          .filter(([at, of]) => at >= (since ?? at) && at < (until ?? at + 1) && of === (value ?? of))
          .map(([at, of]) => `${at} ${of}`)
          .sort()
        const texts = (found: StoredSignal[]) => found.map(({ createdAt, value }) => `${createdAt} ${value}`)
        assert.deepEqual(texts(await streamed(tenant, filter)).sort(), kept)
        const pages = await paged(tenant, filter, limit)
        assert.deepEqual(texts(pages).sort(), kept)
        assert.deepEqual(
          pages.map(({ createdAt }) => createdAt),
          pages.map(({ createdAt }) => createdAt).sort((a, b) => b - a),
        )
        assert.deepEqual(await service.store.signals.sums(tenant.prompt, span, 'day'), sums)
        const [row] = await queryRows(
          service.url,
          `select count(*) as n from signals where prompt_id = ${tenant.prompt.id} and created_at < ${horizon}`,
        )
        assert.equal(Number(row?.n), 0)
      }),
      { numRuns: engine.name === 'SQLite' ? 40 : 15 },
    )
    await service.close()
  })

  test('removes the idempotency keys of what it removes, however many, and keeps the others', () =>
    withService(engine, async (service, tenant) => {
      const { now } = service
      const horizon = horizonOf(engine, now)
      const send = (key: string) => tenant.signal({ value: 'positive' }, { 'idempotency-key': key })
      const id = async (key: string) => (await send(key)).json().data.id
      service.now = horizon - 1
      await Promise.all(Array.from({ length: 600 }, (_, i) => send(`old-${i}`)))
      service.now = horizon
      const first = await id('edge')
      service.now = now
      await removeOldSignals(service.store.signals, days, now)
      assert.equal(await count(service, 'idempotency_keys'), 1)
      assert.equal(await id('edge'), first)
      assert.equal((await send('old-1')).statusCode, 201)
      assert.equal(await tenant.used(), 602)
    }))

  test('hides at once what it removes step by step, in every process, and other processes see the same', () =>
    withService(engine, async (service, tenant) => {
      const { now } = service
      const horizon = horizonOf(engine, now)
      const old = [0, 1, 2].flatMap((months) =>
        Array.from({ length: 600 }, (_, i) => made(tenant, horizon - months * 31 * day - 1 - i)),
      )
      await service.store.signals.import(inPortions(old, [made(tenant, horizon), made(tenant, now)]))
      const other = await openTestStore(service.url, () => now)
      try {
        assert.equal((await other.signals.page(tenant.prompt, everything, { page: '1', limit: 1 })).totalCount, 1_802)
        assert.equal(await service.store.signals.removeSome(now - days * day), true)
        assert.ok((await count(service, 'signals')) > 2, 'all of it was one step')
        const { signals, totalCount } = await other.signals.page(tenant.prompt, everything, { page: '1', limit: 100 })
        assert.deepEqual([totalCount, signals.map(({ createdAt }) => createdAt)], [2, [now, horizon]])
        assert.equal((await streamed(tenant)).length, 2)
        await removeOldSignals(other.signals, days, now)
        assert.equal(await count(service, 'signals'), 2)
        // Nothing comes back where more days are asked for, or the clock goes back.
        await removeOldSignals(service.store.signals, 10 * days, now)
        await removeOldSignals(service.store.signals, days, now - 100 * day)
        assert.equal(await service.store.signals.keptSince(), horizon)
      } finally {
        await other.close()
      }
    }))

  test('keeps usage, and recording, importing and erasing work as before', () =>
    withService(engine, async (service, tenant) => {
      const { now } = service
      const horizon = horizonOf(engine, now)
      await service.store.signals.import(inPortions([made(tenant, horizon - 1), made(tenant, horizon)]))
      await removeOldSignals(service.store.signals, days, now)
      assert.equal(await tenant.used(), 2)
      assert.equal((await tenant.signal({ value: 'positive' })).statusCode, 201)
      // What is older counts, is not shown, and goes with the next run.
      const importer = await openTestStore(service.url, () => now)
      await importer.signals.import(inPortions([made(tenant, horizon - 2)]))
      await importer.close()
      assert.equal((await streamed(tenant)).length, 2)
      await removeOldSignals(service.store.signals, days, now)
      assert.equal(await count(service, 'signals'), 2)
      const span = { from: horizon - hour, until: horizon }
      assert.deepEqual(await service.store.signals.sums(tenant.prompt, span, 'hour'), [
        { start: horizon - hour, positive: 2, negative: 0 },
      ])
      const access = { organisationId: tenant.organisation.id, keyId: 1 }
      assert.equal(await eraseSignals(service.store.signals, access, metadataQuery('{"user":"u-1"}'), now), 1)
    }))

  test('counts each signal once around a change from before: those of its hour to the change', () =>
    withService(engine, async (service, first) => {
      const { now } = service
      const horizon = horizonOf(engine, now)
      await service.store.signals.import(inPortions(Array.from({ length: 600 }, () => made(first, horizon - 70 * day))))
      const tenant = await service.tenant()
      const change = horizon - 10 * hour + hour / 2
      await tenant.record({ createdAt: change - 5 * hour, commitSha: 'b2'.repeat(20) })
      await tenant.record({ createdAt: change })
      const at = [change - 2 * hour, change - 1, change, change + hour]
      await service.store.signals.import(inPortions(at.map((createdAt) => made(tenant, createdAt))))
      const impacts = async () => {
        const { body } = await service.app.inject({ url: `${tenant.path}/impact`, headers: tenant.headers })
        const [{ before, after }] = JSON.parse(body).data
        return [before.positive, after.positive]
      }
      assert.deepEqual(await impacts(), [2, 2])
      // Also while the rows are still there, because others come first.
      assert.equal(await service.store.signals.removeSome(now - days * day), true)
      assert.ok((await count(service, 'signals')) >= 4)
      assert.deepEqual(await impacts(), [1, 3])
      await removeOldSignals(service.store.signals, days, now)
      assert.equal(await count(service, 'signals'), 0)
      assert.deepEqual(await impacts(), [1, 3])
    }))

  test('is what the running service does by itself, where a setting says so', async () => {
    const database = await engine.create()
    const store = await openTestStore(database.url)
    const service = await startServe({ DATABASE_URL: database.url, SIGNAL_RETENTION_DAYS: '1' })
    try {
      const [key] = /plk_\w+/.exec(service.output().stdout) as RegExpExecArray
      const [publicId] = /pmt_\w+/.exec(service.output().stdout) as RegExpExecArray
      assert.ok(key)
      const prompt = await store.prompts.findAnywhere(publicId)
      assert.ok(prompt)
      const { organisationId, id: promptId } = prompt
      const old = {
        organisationId,
        promptId,
        value: 'positive',
        metadata: null,
        createdAt: Date.now() - 70 * day,
      } as const
      await store.signals.import(inPortions([old]))
      const deadline = Date.now() + 20_000
      for (;;) {
        const [row] = await queryRows(database.url, 'select count(*) as n from signals')
        if (Number(row?.n) === 0) break
        assert.ok(Date.now() < deadline, `it is still there: ${service.output().stderr}`)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      assert.equal(await service.stop(), 0)
    } finally {
      await store.close()
      await database.remove()
    }
  })
})

describe('Retention, on PostgreSQL alone,', () => {
  const service = useService(postgres)

  test('holds nobody up while somebody reads a month that is to go, and finishes when they are done', async () => {
    const tenant = await service.tenant()
    const { now } = service
    await service.store.signals.import(
      inPortions([made(tenant, now - 100 * day), made(tenant, now - 70 * day), made(tenant, now)]),
    )
    const reader = new pg.Client({ connectionString: service.url })
    await reader.connect()
    await reader.query('begin; select count(*) from signals')
    const removing = assert.rejects(service.store.signals.removeSome(now - days * day), /lock timeout/)
    const start = performance.now()
    for (let i = 0; i < 20; i++) {
      assert.equal((await service.store.signals.record(signalOf(tenant))).kind, 'recorded')
      assert.equal((await streamed(tenant)).length, i + 2)
    }
    assert.ok(performance.now() - start < 3_000, 'they waited')
    await removing
    await reader.query('commit')
    await reader.end()
    const [{ pending } = {}] = await queryRows(
      service.url,
      'select count(*) as pending from pg_inherits where inhdetachpending',
    )
    assert.equal(Number(pending), 1)
    // And one that was interrupted a moment later.
    await queryRows(service.url, `alter table signals detach partition ${partitionOf(monthStart(now - 70 * day))}`)
    await removeOldSignals(service.store.signals, days, now)
    const left = await queryRows(
      service.url,
      "select relname from pg_class where relname like 'signals_2026_0%' and relkind = 'r'",
    )
    assert.deepEqual(left, [])
    assert.equal((await streamed(tenant)).length, 21)
  })
})
