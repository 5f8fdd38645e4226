import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { LightMyRequestResponse } from 'fastify'
import pg from 'pg'
import { onTestEnd } from '../../../testing/cleanup.ts'
import { onPostgres, postgres, type TestDatabase } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { lockWaiters } from '../../../testing/lock-waiters.ts'
import { queryRows } from '../../../testing/rows.ts'
import { type Tenant, TestService } from '../../../testing/service.ts'
import { assertSumsAgree } from '../../../testing/signal-sums.ts'
import { signalFor } from '../../../testing/signals.ts'
import { startTcpProxy, type TcpProxy } from '../../../testing/tcp-proxy.ts'
import { recordStatement } from '../../src/store/postgres/record-statement.ts'
import { fenceGone } from '../../src/store/postgres/signal-fence.ts'
import { changedRows, planChanges } from '../../src/store/sql/signal-changes.ts'

// Part of every signal sent here, so the proxy recognises the statement that stores it.
const marker = 'the one that breaks it'

onPostgres('When the connection breaks while signals are stored', () => {
  const service = new TestService()
  let database: TestDatabase
  let proxy: TcpProxy
  before(async () => {
    database = await postgres.create()
    proxy = await startTcpProxy(database.url)
    await service.open({ create: async () => ({ url: proxy.url, remove: async () => {} }) })
  })

  function send(tenant: Tenant, count: number, key: string | null = 'k'): Promise<LightMyRequestResponse[]> {
    const body = { value: 'positive', metadata: { marker } }
    return Promise.all(
      Array.from({ length: count }, (_, i) =>
        tenant.signal(body, i === 1 && key !== null ? { 'idempotency-key': key } : {}),
      ),
    )
  }

  function assertAllRecorded(responses: LightMyRequestResponse[]): void {
    assert.deepEqual([...new Set(responses.map(({ statusCode }) => statusCode))], [201])
  }

  /** Exactly the signals that got a 201 are stored, once each, and both the counter and the hourly sums agree. */
  async function assertStored(tenant: Tenant, responses: LightMyRequestResponse[], before = 0): Promise<void> {
    const { id } = tenant.organisation
    const recorded = responses.filter(({ statusCode }) => statusCode === 201).map((response) => response.json().data.id)
    const rows = await queryRows(
      database.url,
      `select id from signals where organisation_id = ${id} and metadata like '%${marker}%'`,
    )
    const byNumber = (a: number, b: number) => a - b
    assert.deepEqual(rows.map((row) => Number(row.id)).sort(byNumber), recorded.sort(byNumber))
    const hours = await queryRows(
      database.url,
      `select sum(positive) as n from hour_sums where organisation_id = ${id}`,
    )
    assert.equal(await tenant.used(), before + recorded.length)
    assert.equal(Number(hours[0]?.n), before + recorded.length)
  }

  for (const [moment, when] of [
    ['before', 'before PostgreSQL receives them'],
    ['after', 'after PostgreSQL has stored them'],
  ] as const) {
    test(`signals are recorded once if the connection breaks ${when}`, async () => {
      const tenant = await service.tenant()
      const broken = proxy.breakAt(moment, marker)
      const responses = await send(tenant, 20)
      await broken
      assertAllRecorded(responses)
      await assertStored(tenant, responses)
      const repeated = await tenant.signal({ value: 'positive', metadata: { marker } }, { 'idempotency-key': 'k' })
      assert.equal(repeated.json().data.id, responses[1]?.json().data.id)
    })
  }

  for (const [moment, when] of [
    ['before', 'before PostgreSQL receives them'],
    ['after', 'after PostgreSQL has stored them'],
  ] as const) {
    test(`votes are cast, changed and withdrawn once if the connection breaks ${when}`, async () => {
      const tenant = await service.tenant()
      const vote = (subject: string, value: string | null) =>
        tenant.signal({ value, subject, version: 'abcdef1', metadata: { marker } })
      const known = (await vote('known', 'positive')).json().data.id
      const broken = proxy.breakAt(moment, marker)
      const responses = await Promise.all([
        vote('known', 'negative'),
        vote('new', 'positive'),
        vote('new', 'negative'),
        vote('gone', 'positive'),
        vote('gone', null),
      ])
      await broken
      assert.deepEqual(
        responses.map(({ statusCode }) => statusCode),
        [200, 201, 200, 201, 200],
      )
      assert.equal(responses[0]?.json().data.id, known)
      assert.equal(responses[1]?.json().data.id, responses[2]?.json().data.id)
      assert.equal(await tenant.used(), 3)
      await assertSumsAgree(database.url)
      const rows = await queryRows(
        database.url,
        `select subject, value from signals where organisation_id = ${tenant.organisation.id} order by subject`,
      )
      assert.deepEqual(
        rows.map(({ subject, value }) => [subject, value]),
        [
          ['known', 'negative'],
          ['new', 'negative'],
        ],
      )
    })
  }

  // 990 leaves room for exactly the ten signals that are sent.
  for (const [before, name] of [
    [1, 'signals that PostgreSQL stores after the connection broke are recorded once, although a lookup missed them'],
    [990, 'signals that PostgreSQL stores after the connection broke are not over the limit that they use up'],
  ] as const) {
    test(name, async () => {
      const tenant = await service.tenant()
      await tenant.fillMonth(before)
      const other = new pg.Client(database.url)
      await other.connect()
      onTestEnd(() => other.end())
      await other.query('begin')
      await other.query('select * from signal_usage where organisation_id = $1 for update', [tenant.organisation.id])
      const broken = proxy.breakAt('during', marker)
      // A key would be a reason not to store the batch twice.
      const sent = send(tenant, 10, null)
      await broken
      // Both the broken statement and the one sent again, after a lookup found nothing, wait for the usage row.
      await eventually(async () => assert.equal(await lockWaiters(database.url), 2))
      assert.equal(await tenant.used(), before)
      await other.query('commit')
      const responses = await sent
      assertAllRecorded(responses)
      await assertStored(tenant, responses, before)
    })
  }

  test('signals that PostgreSQL is still storing after the connection broke are waited for, and not sent again', async () => {
    const tenant = await service.tenant('business')
    const first = await send(tenant, 1)
    const other = new pg.Client(database.url)
    await other.connect()
    onTestEnd(() => other.end())
    await other.query('begin')
    await other.query('lock table signals_2026_11 in share mode')
    const broken = proxy.breakAt('during', marker)
    const sent = send(tenant, 10, null)
    await broken
    // The broken statement waits for the month, and the removal of its fence for the statement.
    await eventually(async () => assert.equal(await lockWaiters(database.url), 2))
    await other.query('commit')
    const responses = await sent
    assertAllRecorded(responses)
    await assertStored(tenant, [...first, ...responses])
  })

  test('a statement that PostgreSQL receives after its fence was removed stores nothing', async () => {
    const tenant = await service.tenant()
    const signal = signalFor(tenant, { metadata: `{"marker":"${marker}"}` })
    const changes = planChanges([{ id: 1, signal, planned: null, outcome: null }], new Map())
    const { sql, parameters } = recordStatement(changedRows(changes, service.now), 1, 0, false)
    const late = new pg.Client(database.url)
    await late.connect()
    onTestEnd(() => late.end())
    await assert.rejects(late.query(sql, parameters), { code: fenceGone })
    await assertStored(tenant, [])
  })

  test('a process whose fence is gone, after a failover to a server that never had it, records with another', async () => {
    const tenant = await service.tenant()
    const first = await send(tenant, 1)
    await queryRows(database.url, 'delete from batch_fences')
    const responses = await send(tenant, 9)
    assertAllRecorded(responses)
    await assertStored(tenant, [...first, ...responses])
  })

  test('near the limit, exactly as many signals are recorded as fit, and the others are rejected', async () => {
    for (const moment of ['before', 'after'] as const) {
      const tenant = await service.tenant()
      await tenant.fillMonth(993)
      const broken = proxy.breakAt(moment, marker)
      const responses = await send(tenant, 20)
      await broken
      assert.equal(responses.filter(({ statusCode }) => statusCode === 201).length, 7)
      assert.equal(responses.filter(({ statusCode }) => statusCode === 429).length, 13)
      await assertStored(tenant, responses, 993)
    }
  })

  test('signals wait for PostgreSQL to become reachable again', async () => {
    const tenant = await service.tenant()
    const broken = proxy.breakAt('after', marker)
    const sent = send(tenant, 20)
    await broken
    proxy.refuse(true)
    await eventually(() => assert.rejects(service.store.refresh()))
    proxy.refuse(false)
    const responses = await sent
    assertAllRecorded(responses)
    await assertStored(tenant, responses)
  })

  test('if PostgreSQL stays away for seconds, signals get a 500 and the stored ones stay counted', async () => {
    const tenant = await service.tenant()
    const broken = proxy.breakAt('after', marker)
    const start = performance.now()
    const sent = send(tenant, 10)
    await broken
    proxy.refuse(true)
    onTestEnd(() => proxy.refuse(false))
    const responses = await sent
    assert.ok(performance.now() - start < 8_000)
    assert.deepEqual([...new Set(responses.map(({ statusCode }) => statusCode))], [500])
    // A request that arrives meanwhile fails at once.
    const secondStart = performance.now()
    assert.equal((await tenant.signal({ value: 'positive' })).statusCode, 500)
    assert.ok(performance.now() - secondStart < 4_000)
    proxy.refuse(false)
    assert.equal(await tenant.used(), 10)
    const repeated = await send(tenant, 2)
    assertAllRecorded(repeated)
    assert.equal(await tenant.used(), 11)
  })
})
