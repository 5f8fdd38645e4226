import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { onTestEnd } from '../../../testing/cleanup.ts'
import { onEachEngine, onPostgres, postgres } from '../../../testing/engines.ts'
import { queryRows } from '../../../testing/rows.ts'
import { openTestStore, useService } from '../../../testing/service.ts'
import { signalFor } from '../../../testing/signals.ts'
import { postgresArchive } from '../../src/store/postgres/archive.ts'
import { openPostgres, UnknownOutcome } from '../../src/store/postgres/database.ts'
import { partitionCreator } from '../../src/store/postgres/partitions.ts'
import { signalIds } from '../../src/store/postgres/signal-ids.ts'

onEachEngine('Recording signals', (engine) => {
  const service = useService(engine)

  test('an idempotency key that is repeated, in the same batch or later, returns the first signal', async () => {
    const tenant = await service.tenant()
    const signal = signalFor(tenant, { idempotency: { key: 'k', fingerprint: 'f' } })
    const together = await Promise.all([1, 2, 3].map(() => service.store.signals.record(signal)))
    const later = await service.store.signals.record({ ...signal, createdAt: signal.createdAt + 1 })
    const [first] = together
    assert.ok(first?.kind === 'recorded')
    const { id, createdAt } = first
    for (const outcome of [...together.slice(1), later]) {
      assert.deepEqual(outcome, { kind: 'repeated', id, createdAt, original: 'recorded' })
    }
    assert.equal(await tenant.used(), 1)
  })

  test('an idempotency key reused for another request is reported, even over the limit', async () => {
    const tenant = await service.tenant()
    const signal = signalFor(tenant, { limit: 1, idempotency: { key: 'k', fingerprint: 'f' } })
    await service.store.signals.record(signal)
    const reused = await service.store.signals.record({ ...signal, idempotency: { key: 'k', fingerprint: 'other' } })
    assert.deepEqual(reused, { kind: 'key_reused' })
    assert.equal((await service.store.signals.record(signal)).kind, 'repeated')
  })

  test('the idempotency key of a rejected signal is not stored', async () => {
    const tenant = await service.tenant()
    const signal = signalFor(tenant, { limit: 0, idempotency: { key: 'k', fingerprint: 'f' } })
    assert.equal((await service.store.signals.record(signal)).kind, 'over_limit')
    assert.equal((await service.store.signals.record({ ...signal, limit: 1 })).kind, 'recorded')
  })

  test('organisations can use the same idempotency key independently', async () => {
    const idempotency = { key: 'same', fingerprint: 'f' }
    for (const tenant of [await service.tenant(), await service.tenant()]) {
      assert.equal((await service.store.signals.record(signalFor(tenant, { idempotency }))).kind, 'recorded')
    }
  })

  test('an idempotency key that two processes record at once is stored once', async () => {
    const tenant = await service.tenant()
    const other = await openTestStore(service.url)
    for (let round = 0; round < 20; round++) {
      const signal = signalFor(tenant, { idempotency: { key: `k${round}`, fingerprint: 'f' } })
      const outcomes = await Promise.all([service.store, other].map((store) => store.signals.record(signal)))
      assert.deepEqual(outcomes.map(({ kind }) => kind).sort(), ['recorded', 'repeated'])
    }
    assert.equal(await tenant.used(), 20)
  })

  test('the monthly counter, hourly sums and stored signals agree', async () => {
    const tenant = await service.tenant('business')
    await Promise.all(
      Array.from({ length: 300 }, (_, i) =>
        service.store.signals.record(
          signalFor(tenant, { value: i % 3 === 0 ? 'negative' : 'positive', createdAt: service.now + i * 60_000 }),
        ),
      ),
    )
    const where = `where organisation_id = ${tenant.organisation.id}`
    const [stored] = await queryRows(service.url, `select count(*) as n from signals ${where}`)
    const [hours] = await queryRows(
      service.url,
      `select sum(positive) as positive, sum(negative) as negative from hour_sums ${where}`,
    )
    assert.equal(Number(stored?.n), 300)
    assert.equal(await tenant.used(), 300)
    assert.deepEqual([Number(hours?.positive), Number(hours?.negative)], [200, 100])
  })
})

onPostgres('Recording signals', () => {
  const service = useService(postgres)

  test('the first signal of a month is recorded while a transaction reads signals', async () => {
    const tenant = await service.tenant()
    const reader = new pg.Client({ connectionString: service.url })
    await reader.connect()
    onTestEnd(() => reader.end())
    await reader.query('begin; select count(*) from signals')
    const createdAt = Date.parse('2031-05-05T00:00:00Z')
    const outcome = await service.store.signals.record(signalFor(tenant, { createdAt }))
    assert.equal(outcome.kind, 'recorded')
  })

  async function openDatabase(poolSize: number) {
    const database = await openPostgres(
      service.url,
      poolSize,
      () => {},
      () => {},
    )
    onTestEnd(() => database.close())
    return database
  }

  test('PostgreSQL compiles no statement of the service, on any of its connections', async () => {
    const database = await openDatabase(3)
    const shown = await Promise.all(Array.from({ length: 3 }, () => database.query('show jit')))
    assert.deepEqual(shown.flat(), [{ jit: 'off' }, { jit: 'off' }, { jit: 'off' }])
    assert.equal(database.connections().total, 3)
  })

  test('a connection is kept after an error of its statement, and replaced after it broke', async () => {
    const database = await openDatabase(1)
    const process = async () => (await database.query('select pg_backend_pid() as pid'))[0]?.pid
    const first = await process()
    // The code of a broken connection, as a coordinator reports a worker that is down.
    const raise = `do $$ begin raise 'worker' using errcode = '08006'; end $$`
    await assert.rejects(database.attempt(raise, []), UnknownOutcome)
    await assert.rejects(database.attempt('select 1 / $1::int', [0]), /division by zero/)
    assert.equal(await process(), first)
    await assert.rejects(database.attempt('select pg_terminate_backend(pg_backend_pid())', []), UnknownOutcome)
    assert.notEqual(await process(), first)
  })

  test('recording never uses an ID that a concurrent import of an organisation has reserved', async () => {
    const database = await openDatabase(4)
    const archive = postgresArchive(database, partitionCreator(database), () => {})
    const ids = signalIds(database)
    const recorded = new Set<number>()
    let isStopped = false
    const recording = Array.from({ length: 2 }, async () => {
      while (!isStopped) for (const id of await ids.reserve(1_024)) recorded.add(id)
    })
    const lastBefore: number[] = []
    try {
      // In one transaction, which ends with an analysis of every table. Each reservation is a transaction of its own.
      await archive.writeTransaction(async (connection) => {
        for (let i = 0; i < 200; i++) lastBefore.push(await connection.reserveIds('signals', 5))
      })
    } finally {
      isStopped = true
      await Promise.all(recording)
    }
    assert.ok(recorded.size > 1_000)
    const reused = lastBefore.filter((last) => [1, 2, 3, 4, 5].some((offset) => recorded.has(last + offset)))
    assert.deepEqual(reused, [])
  })
})
