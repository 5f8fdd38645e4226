import assert from 'node:assert/strict'
import { test } from 'node:test'
import { usageSchema } from '../../../contract/usage.ts'
import { assertMatchesSchema } from '../../../testing/assertions.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { type Tenant, useService } from '../../../testing/service.ts'
import { inBatches, signalFor } from '../../../testing/signals.ts'
import { operator } from '../../src/domain/access/audit.ts'

onOneEngine('Usage', (engine) => {
  const service = useService(engine)

  const request = (headers: Record<string, string>) => service.app.inject({ url: '/api/v1/usage', headers })

  async function usage(tenant: Tenant) {
    const response = await request(tenant.headers)
    assert.equal(response.statusCode, 200, response.body)
    assertMatchesSchema(usageSchema, response)
    return response.json().data
  }

  async function recordAt(tenant: Tenant, ...times: string[]): Promise<void> {
    const signals = times.map((at) => signalFor(tenant, { createdAt: Date.parse(at) }))
    await service.store.signals.import(inBatches(signals))
  }

  test('usage shows the plan, the limit, the rest and twelve months including empty ones', async () => {
    const tenant = await service.tenant()
    for (let i = 0; i < 3; i++) assert.equal((await tenant.signal({ value: 'positive' })).statusCode, 201)
    await recordAt(tenant, '2026-10-31T23:59:59.999Z', '2026-01-01T00:00:00.000Z', '2025-12-31T23:59:59.999Z')
    await recordAt(tenant, '2025-12-01T00:00:00.000Z', '2025-11-30T23:59:59.999Z')
    assert.deepEqual(await usage(tenant), {
      plan: 'free',
      limit: 1_000,
      used: 3,
      remaining: 997,
      resets_at: '2026-12-01T00:00:00.000Z',
      months: [
        { month: '2026-11', used: 3 },
        { month: '2026-10', used: 1 },
        { month: '2026-09', used: 0 },
        { month: '2026-08', used: 0 },
        { month: '2026-07', used: 0 },
        { month: '2026-06', used: 0 },
        { month: '2026-05', used: 0 },
        { month: '2026-04', used: 0 },
        { month: '2026-03', used: 0 },
        { month: '2026-02', used: 0 },
        { month: '2026-01', used: 1 },
        { month: '2025-12', used: 2 },
      ],
    })
  })

  test('a plan without a limit shows null as limit and remaining, and its responses have no rate limit headers', async () => {
    service.planLimits.business = null
    const tenant = await service.tenant('business')
    await tenant.fillMonth(100_000)
    const recorded = await tenant.signal({ value: 'positive' })
    assert.equal(recorded.statusCode, 201)
    const rejected = await tenant.signal({ value: 'neither' })
    assert.equal(rejected.statusCode, 422)
    for (const { headers } of [recorded, rejected]) {
      assert.deepEqual(
        Object.keys(headers).filter((name) => name.startsWith('ratelimit')),
        [],
      )
    }
    const { limit, used, remaining } = await usage(tenant)
    assert.deepEqual([limit, used, remaining], [null, 100_001, null])
    service.planLimits.business = 100_001
    const over = await tenant.signal({ value: 'positive' })
    assert.deepEqual([over.statusCode, over.json().error.limit, over.json().error.used], [429, 100_001, 100_001])
    service.planLimits.business = 100_000
  })

  test('usage follows a change of plan on the next request, and nothing remains over a lowered limit', async () => {
    const tenant = await service.tenant('team')
    await tenant.fillMonth(1_500)
    const before = await usage(tenant)
    assert.deepEqual([before.plan, before.limit, before.used, before.remaining], ['team', 10_000, 1_500, 8_500])
    await service.store.organisations.setPlan(tenant.organisation.id, 'free', service.now, operator)
    const after = await usage(tenant)
    assert.deepEqual([after.plan, after.limit, after.used, after.remaining], ['free', 1_000, 1_500, 0])
  })

  test('usage resets at the first instant of a month', async () => {
    const tenant = await service.tenant()
    const now = service.now
    await recordAt(tenant, '2026-12-31T23:59:59.999Z')
    try {
      service.now = Date.parse('2026-12-31T23:59:59.999Z')
      assert.deepEqual((await usage(tenant)).months[0], { month: '2026-12', used: 1 })
      service.now++
      const { used, remaining, resets_at, months } = await usage(tenant)
      assert.deepEqual([used, remaining, resets_at], [0, 1_000, '2027-02-01T00:00:00.000Z'])
      assert.deepEqual(months.slice(0, 2), [
        { month: '2027-01', used: 0 },
        { month: '2026-12', used: 1 },
      ])
      assert.equal(months.length, 12)
    } finally {
      service.now = now
    }
  })

  test('usage counts all prompts of the organisation, including deleted ones, and no other organisation', async () => {
    const [tenant, other] = [await service.tenant(), await service.tenant()]
    await tenant.signal({ value: 'negative' })
    await service.store.prompts.delete(tenant.prompt, service.now, operator)
    const second = await service.prompt(tenant.organisation, 'prompts/b.md')
    await service.store.signals.record(signalFor(tenant, { promptId: second.id }))
    assert.equal((await usage(tenant)).used, 2)
    assert.equal((await usage(other)).used, 0)
  })

  test('only standard and admin keys can read usage', async () => {
    const { organisation } = await service.tenant()
    for (const [role, status] of [
      ['ingest', 403],
      ['standard', 200],
      ['admin', 200],
    ] as const) {
      const response = await request({ authorization: `Bearer ${await service.key(organisation, role)}` })
      assert.equal(response.statusCode, status, role)
    }
    assert.equal((await request({})).statusCode, 401)
  })
})
