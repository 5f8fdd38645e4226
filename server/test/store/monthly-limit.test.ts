import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onEachEngine } from '../../../testing/engines.ts'
import { queryRows, usageOf } from '../../../testing/rows.ts'
import { openTestStore, useService } from '../../../testing/service.ts'
import { inBatches, signalFor } from '../../../testing/signals.ts'

onEachEngine('The monthly limit', (engine) => {
  const service = useService(engine)

  test('signals are recorded up to the limit, and rejected ones report the usage', async () => {
    const tenant = await service.tenant()
    const outcomes = await Promise.all(
      Array.from({ length: 7 }, () => service.store.signals.record(signalFor(tenant, { limit: 5 }))),
    )
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      [...Array(5).fill('recorded'), 'over_limit', 'over_limit'],
    )
    assert.deepEqual(outcomes[6], { kind: 'over_limit', used: 5 })
    assert.equal(new Set(outcomes.slice(0, 5).map((outcome) => 'id' in outcome && outcome.id)).size, 5)
    assert.equal(await tenant.used(), 5)
  })

  test('exactly the limit is recorded when two processes record at once', async () => {
    const tenant = await service.tenant()
    const other = await openTestStore(service.url)
    const outcomes = await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        (i % 2 === 0 ? service.store : other).signals.record(signalFor(tenant, { limit: 30 })),
      ),
    )
    assert.equal(outcomes.filter(({ kind }) => kind === 'recorded').length, 30)
    assert.equal(outcomes.filter(({ kind }) => kind === 'over_limit').length, 70)
    assert.equal(await tenant.used(), 30)
  })

  test('each signal of a batch is held to the limit of its own request', async () => {
    const tenant = await service.tenant()
    for (let i = 0; i < 5; i++) await service.store.signals.record(signalFor(tenant))
    const outcomes = await Promise.all(
      [100, 5, 5, 100].map((limit) => service.store.signals.record(signalFor(tenant, { limit }))),
    )
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      ['recorded', 'over_limit', 'over_limit', 'recorded'],
    )
  })

  test('without a limit every signal is recorded and counted, also next to signals with one', async () => {
    const tenant = await service.tenant()
    const limits = [null, 2, null, 2, null]
    const outcomes = await Promise.all(
      limits.map((limit) => service.store.signals.record(signalFor(tenant, { limit }))),
    )
    const kinds = outcomes.map(({ kind }) => kind)
    assert.deepEqual(
      limits.map((limit, i) => limit === null && kinds[i]),
      ['recorded', false, 'recorded', false, 'recorded'],
    )
    assert.equal(await tenant.used(), kinds.filter((kind) => kind === 'recorded').length)
    await service.store.signals.record(signalFor(tenant, { limit: null }))
    assert.equal((await service.store.signals.record(signalFor(tenant, { limit: 2 }))).kind, 'over_limit')
  })

  test('organisations that share a batch have separate limits', async () => {
    const [full, spare] = [await service.tenant(), await service.tenant()]
    const outcomes = await Promise.all(
      Array.from({ length: 6 }, (_, i) =>
        service.store.signals.record(i % 2 === 0 ? signalFor(full, { limit: 1 }) : signalFor(spare, { limit: 3 })),
      ),
    )
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      ['recorded', 'recorded', 'over_limit', 'recorded', 'over_limit', 'recorded'],
    )
    assert.equal(await full.used(), 1)
    assert.equal(await spare.used(), 3)
  })

  test('signals of two months that share a batch count in their own months', async () => {
    const tenant = await service.tenant()
    const end = Date.parse('2026-11-30T23:59:59.999Z')
    await Promise.all(
      [end, end, end + 1].map((createdAt) => service.store.signals.record(signalFor(tenant, { createdAt, limit: 2 }))),
    )
    assert.deepEqual(await usageOf(service.url, tenant.organisation.id), [
      { month: Date.parse('2026-11-01T00:00:00Z'), used: 2 },
      { month: Date.parse('2026-12-01T00:00:00Z'), used: 1 },
    ])
  })

  test('imported signals count in their own months and hours, beyond the limit', async () => {
    const tenant = await service.tenant()
    const times = ['2025-12-31T23:59:59.999Z', '2026-01-01T00:00:00.000Z', '2026-01-01T00:30:00.000Z'].map(Date.parse)
    const signals = times.map((createdAt) => signalFor(tenant, { createdAt }))
    const many = Array.from({ length: 1_500 }, () =>
      signalFor(tenant, { createdAt: times[0] as number, value: 'negative' }),
    )
    assert.deepEqual(await service.store.signals.import(inBatches(signals, many)), { imported: 1_503, replaced: 0 })
    assert.deepEqual(await usageOf(service.url, tenant.organisation.id), [
      { month: Date.parse('2025-12-01T00:00:00Z'), used: 1_501 },
      { month: Date.parse('2026-01-01T00:00:00Z'), used: 2 },
    ])
    const hours = await queryRows(
      service.url,
      `select hour, sum(positive) as positive, sum(negative) as negative from hour_sums where prompt_id = ${tenant.prompt.id}
       group by hour order by hour`,
    )
    assert.deepEqual(
      hours.map(({ hour, positive, negative }) => [Number(hour), Number(positive), Number(negative)]),
      [
        [Date.parse('2025-12-31T23:00:00Z'), 1, 1_500],
        [Date.parse('2026-01-01T00:00:00Z'), 2, 0],
      ],
    )
  })
})
