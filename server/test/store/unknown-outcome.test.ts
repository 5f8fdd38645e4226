import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { LightMyRequestResponse } from 'fastify'
import pg from 'pg'
import { type BreakingProxy, startBreakingProxy } from '../../../testing/breaking-proxy.ts'
import { postgres, type TestDatabase } from '../../../testing/engines.ts'
import { queryRows, type Tenant, TestService } from '../../../testing/service.ts'

const mark = 'the one that breaks it'

describe('Signals on a connection that breaks', () => {
  const service = new TestService()
  let database: TestDatabase
  let proxy: BreakingProxy
  before(async () => {
    database = await postgres.create()
    proxy = await startBreakingProxy(database.url)
    await service.open({ name: 'PostgreSQL', create: async () => ({ url: proxy.url, remove: async () => {} }) })
  })
  after(async () => {
    await service.close()
    proxy.close()
    await database.remove()
  })

  function send(tenant: Tenant, count: number): Promise<LightMyRequestResponse[]> {
    const body = { value: 'positive', metadata: { mark } }
    return Promise.all(
      Array.from({ length: count }, (_, i) => tenant.signal(body, i === 1 ? { 'idempotency-key': 'k' } : {})),
    )
  }

  /** Those answered with 201 are stored, once each, and nothing else is; both counts agree. */
  async function assertStored(tenant: Tenant, answers: LightMyRequestResponse[], before = 0): Promise<void> {
    const { id } = tenant.organisation
    const answered = answers.filter(({ statusCode }) => statusCode === 201).map((answer) => answer.json().data.id)
    const rows = await queryRows(
      database.url,
      `select id from signals where organisation_id = ${id} and metadata like '%${mark}%'`,
    )
    const byNumber = (a: number, b: number) => a - b
    assert.deepEqual(rows.map((row) => Number(row.id)).sort(byNumber), answered.sort(byNumber))
    const hours = await queryRows(
      database.url,
      `select sum(positive) as n from signal_hours where organisation_id = ${id}`,
    )
    assert.equal(await tenant.used(), before + answered.length)
    assert.equal(Number(hours[0]?.n), before + answered.length)
  }

  for (const moment of ['before', 'after'] as const) {
    test(`${moment} PostgreSQL has stored them are answered with what became of them, and stored once`, async () => {
      const tenant = await service.tenant()
      proxy.breakAt(moment, mark)
      const answers = await send(tenant, 20)
      await proxy.broken()
      assert.deepEqual([...new Set(answers.map(({ statusCode }) => statusCode))], [201])
      await assertStored(tenant, answers)
      const again = await tenant.signal({ value: 'positive', metadata: { mark } }, { 'idempotency-key': 'k' })
      assert.equal(again.json().data.id, answers[1]?.json().data.id)
    })
  }

  // The second time there is room for just these.
  for (const [before, what] of [
    [1, 'stored once, though nothing is found at the first look'],
    [990, 'not over the limit that they themselves use up'],
  ] as const) {
    test(`and that PostgreSQL goes on working at are ${what}`, async () => {
      const tenant = await service.tenant()
      await tenant.fill(before)
      const other = new pg.Client(database.url)
      await other.connect()
      await other.query('begin')
      await other.query('select * from signal_usage where organisation_id = $1 for update', [tenant.organisation.id])
      proxy.breakAt('during', mark)
      const sent = send(tenant, 10)
      await proxy.broken()
      await pause(300)
      assert.equal(await tenant.used(), before)
      await other.query('commit')
      await other.end()
      const answers = await sent
      assert.deepEqual([...new Set(answers.map(({ statusCode }) => statusCode))], [201])
      await assertStored(tenant, answers, before)
    })
  }

  test('near the limit are answered exactly: as many are stored as there was room for, the others refused', async () => {
    for (const moment of ['before', 'after'] as const) {
      const tenant = await service.tenant()
      await tenant.fill(993)
      proxy.breakAt(moment, mark)
      const answers = await send(tenant, 20)
      await proxy.broken()
      assert.equal(answers.filter(({ statusCode }) => statusCode === 201).length, 7)
      assert.equal(answers.filter(({ statusCode }) => statusCode === 429).length, 13)
      await assertStored(tenant, answers, 993)
    }
  })

  test('while PostgreSQL cannot be reached are answered once it can', async () => {
    const tenant = await service.tenant()
    proxy.breakAt('after', mark)
    const sent = send(tenant, 20)
    await proxy.broken()
    proxy.refuse(true)
    await pause(1_000)
    proxy.refuse(false)
    const answers = await sent
    assert.deepEqual([...new Set(answers.map(({ statusCode }) => statusCode))], [201])
    await assertStored(tenant, answers)
  })

  test('are answered with 500 where PostgreSQL does not come back within seconds, and counted as what is stored', async () => {
    const tenant = await service.tenant()
    proxy.breakAt('after', mark)
    const start = performance.now()
    const sent = send(tenant, 10)
    await proxy.broken()
    proxy.refuse(true)
    const answers = await sent
    assert.ok(performance.now() - start < 8_000)
    assert.deepEqual([...new Set(answers.map(({ statusCode }) => statusCode))], [500])
    // Whoever comes meanwhile is told at once.
    const late = performance.now()
    assert.equal((await tenant.signal({ value: 'positive' })).statusCode, 500)
    assert.ok(performance.now() - late < 1_000)
    proxy.refuse(false)
    assert.equal(await tenant.used(), 10)
    const again = await send(tenant, 2)
    assert.deepEqual(
      again.map(({ statusCode }) => statusCode),
      [201, 201],
    )
    assert.equal(await tenant.used(), 11)
  })
})
