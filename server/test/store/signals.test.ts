import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import pg from 'pg'
import { onEachEngine, postgres } from '../../../testing/engines.ts'
import { inPortions, signalOf } from '../../../testing/recording.ts'
import { openTestStore, queryRows, usageOf, useService } from '../../../testing/service.ts'
import { postgresArchive } from '../../src/store/postgres/archive.ts'
import { openPostgres } from '../../src/store/postgres/database.ts'
import { monthPartitions } from '../../src/store/postgres/months.ts'
import { signalIds } from '../../src/store/postgres/signal-ids.ts'

onEachEngine('The store keeps signals and', (engine) => {
  const service = useService(engine)

  test('counts imported signals in their own months, past the limit, and adds them to the hours', async () => {
    const tenant = await service.tenant()
    const times = ['2025-12-31T23:59:59.999Z', '2026-01-01T00:00:00.000Z', '2026-01-01T00:30:00.000Z'].map(Date.parse)
    const signals = times.map((createdAt) => signalOf(tenant, { createdAt }))
    const many = Array.from({ length: 1_500 }, () =>
      signalOf(tenant, { createdAt: times[0] as number, value: 'negative' }),
    )
    assert.deepEqual(await service.store.signals.import(inPortions(signals, many)), { imported: 1_503 })
    assert.deepEqual(await usageOf(service.url, tenant.organisation.id), [
      { month: Date.parse('2025-12-01T00:00:00Z'), used: 1_501 },
      { month: Date.parse('2026-01-01T00:00:00Z'), used: 2 },
    ])
    const hours = await queryRows(
      service.url,
      `select hour, positive, negative from signal_hours where prompt_id = ${tenant.prompt.id} order by hour`,
    )
    assert.deepEqual(
      hours.map(({ hour, positive, negative }) => [Number(hour), Number(positive), Number(negative)]),
      [
        [Date.parse('2025-12-31T23:00:00Z'), 1, 1_500],
        [Date.parse('2026-01-01T00:00:00Z'), 2, 0],
      ],
    )
  })

  test('records signals up to the limit and says how many are used beyond it', async () => {
    const tenant = await service.tenant()
    const outcomes = await Promise.all(
      Array.from({ length: 7 }, () => service.store.signals.record(signalOf(tenant, { limit: 5 }))),
    )
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      [...Array(5).fill('recorded'), 'over_limit', 'over_limit'],
    )
    assert.deepEqual(outcomes[6], { kind: 'over_limit', used: 5 })
    assert.equal(new Set(outcomes.slice(0, 5).map((outcome) => 'id' in outcome && outcome.id)).size, 5)
    assert.equal(await tenant.used(), 5)
  })

  test('holds each signal of a batch to the limit of its own request', async () => {
    const tenant = await service.tenant()
    for (let i = 0; i < 5; i++) await service.store.signals.record(signalOf(tenant))
    const outcomes = await Promise.all(
      [100, 5, 5, 100].map((limit) => service.store.signals.record(signalOf(tenant, { limit }))),
    )
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      ['recorded', 'over_limit', 'over_limit', 'recorded'],
    )
  })

  test('keeps organisations that share a batch apart', async () => {
    const [full, roomy] = [await service.tenant(), await service.tenant()]
    const outcomes = await Promise.all(
      Array.from({ length: 6 }, (_, i) =>
        service.store.signals.record(i % 2 === 0 ? signalOf(full, { limit: 1 }) : signalOf(roomy, { limit: 3 })),
      ),
    )
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      ['recorded', 'recorded', 'over_limit', 'recorded', 'over_limit', 'recorded'],
    )
    assert.equal(await full.used(), 1)
    assert.equal(await roomy.used(), 3)
  })

  test('counts signals of two months that share a batch in their own months', async () => {
    const tenant = await service.tenant()
    const end = Date.parse('2026-11-30T23:59:59.999Z')
    await Promise.all(
      [end, end, end + 1].map((createdAt) => service.store.signals.record(signalOf(tenant, { createdAt, limit: 2 }))),
    )
    assert.deepEqual(await usageOf(service.url, tenant.organisation.id), [
      { month: Date.parse('2026-11-01T00:00:00Z'), used: 2 },
      { month: Date.parse('2026-12-01T00:00:00Z'), used: 1 },
    ])
  })

  test('answers the same idempotency key in one batch and in a later one with the first signal', async () => {
    const tenant = await service.tenant()
    const signal = signalOf(tenant, { idempotency: { key: 'k', fingerprint: 'f' } })
    const together = await Promise.all([1, 2, 3].map(() => service.store.signals.record(signal)))
    const later = await service.store.signals.record({ ...signal, createdAt: signal.createdAt + 1 })
    const [first] = together
    assert.ok(first?.kind === 'recorded')
    const { id, createdAt } = first
    for (const outcome of [...together.slice(1), later]) {
      assert.deepEqual(outcome, { kind: 'repeated', id, createdAt })
    }
    assert.equal(await tenant.used(), 1)
  })

  test('tells when an idempotency key comes back with another request, also over the limit', async () => {
    const tenant = await service.tenant()
    const signal = signalOf(tenant, { limit: 1, idempotency: { key: 'k', fingerprint: 'f' } })
    await service.store.signals.record(signal)
    const reused = await service.store.signals.record({ ...signal, idempotency: { key: 'k', fingerprint: 'other' } })
    assert.deepEqual(reused, { kind: 'key_reused' })
    assert.equal((await service.store.signals.record(signal)).kind, 'repeated')
  })

  test('does not remember the idempotency key of a signal that was refused', async () => {
    const tenant = await service.tenant()
    const signal = signalOf(tenant, { limit: 0, idempotency: { key: 'k', fingerprint: 'f' } })
    assert.equal((await service.store.signals.record(signal)).kind, 'over_limit')
    assert.equal((await service.store.signals.record({ ...signal, limit: 1 })).kind, 'recorded')
  })

  test('keeps equal idempotency keys of two organisations apart', async () => {
    const idempotency = { key: 'same', fingerprint: 'f' }
    for (const tenant of [await service.tenant(), await service.tenant()]) {
      assert.equal((await service.store.signals.record(signalOf(tenant, { idempotency }))).kind, 'recorded')
    }
  })

  test('stores an idempotency key once when two processes record it at the same moment', async () => {
    const tenant = await service.tenant()
    const other = await openTestStore(service.url)
    try {
      for (let round = 0; round < 20; round++) {
        const signal = signalOf(tenant, { idempotency: { key: `k${round}`, fingerprint: 'f' } })
        const outcomes = await Promise.all([service.store, other].map((store) => store.signals.record(signal)))
        assert.deepEqual(outcomes.map(({ kind }) => kind).sort(), ['recorded', 'repeated'])
      }
    } finally {
      await other.close()
    }
    assert.equal(await tenant.used(), 20)
  })

  test('keeps counter, hours and stored signals equal', async () => {
    const tenant = await service.tenant('business')
    await Promise.all(
      Array.from({ length: 300 }, (_, i) =>
        service.store.signals.record(
          signalOf(tenant, { value: i % 3 === 0 ? 'negative' : 'positive', createdAt: service.now + i * 60_000 }),
        ),
      ),
    )
    const where = `where organisation_id = ${tenant.organisation.id}`
    const [stored] = await queryRows(service.url, `select count(*) as n from signals ${where}`)
    const [hours] = await queryRows(
      service.url,
      `select sum(positive) as positive, sum(negative) as negative from signal_hours ${where}`,
    )
    assert.equal(Number(stored?.n), 300)
    assert.equal(await tenant.used(), 300)
    assert.deepEqual([Number(hours?.positive), Number(hours?.negative)], [200, 100])
  })
})

describe('The store keeps signals and, on PostgreSQL alone,', () => {
  const service = useService(postgres)

  test('makes room for a new month although somebody is reading signals', async () => {
    const tenant = await service.tenant()
    const reader = new pg.Client({ connectionString: service.url })
    await reader.connect()
    await reader.query('begin; select count(*) from signals')
    const createdAt = Date.parse('2031-05-05T00:00:00Z')
    const outcome = await service.store.signals.record(signalOf(tenant, { createdAt }))
    await reader.end()
    assert.equal(outcome.kind, 'recorded')
  })

  test('gives no id that an import of an organisation takes at the same moment', async () => {
    const database = await openPostgres(
      service.url,
      4,
      () => {},
      () => {},
    )
    const engine = postgresArchive(database, monthPartitions(database), () => {})
    const ids = signalIds(database)
    const drawn = new Set<number>()
    let stopped = false
    const drawing = Array.from({ length: 2 }, async () => {
      while (!stopped) for (const id of await ids.draw(1_024)) drawn.add(id)
    })
    const taken: number[] = []
    for (let i = 0; i < 200; i++) taken.push(await engine.writing((connection) => connection.takeIds('signals', 5)))
    stopped = true
    await Promise.all(drawing)
    await database.close()
    assert.ok(drawn.size > 1_000)
    const twice = taken.filter((last) => [1, 2, 3, 4, 5].some((place) => drawn.has(last + place)))
    assert.deepEqual(twice, [])
  })
})
