import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { rateLimitedBodySchema } from '../../../contract/schema.ts'
import { assertMatchesSchema } from '../../../testing/assertions.ts'
import { onEachEngine } from '../../../testing/engines.ts'
import { usageOf } from '../../../testing/rows.ts'
import { type Tenant, useService } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'

onEachEngine('The monthly limit', (engine) => {
  const service = useService(engine)

  test('a signal over the limit of any plan gets 429 with limit, used, resets_at and Retry-After', async () => {
    for (const [plan, limit] of [
      ['free', 1_000],
      ['team', 10_000],
      ['business', 100_000],
    ] as const) {
      const tenant = await service.tenant(plan)
      await tenant.fillMonth(limit - 1)
      assert.equal((await tenant.signal({ value: 'positive' })).statusCode, 201, plan)
      const response = await tenant.signal({ value: 'positive' })
      assert.equal(response.statusCode, 429, plan)
      const { code, message, ...details } = response.json().error
      assert.equal(code, 'rate_limited')
      assert.match(message, new RegExp(String(limit)))
      assert.deepEqual(details, { limit, used: limit, resets_at: '2026-12-01T00:00:00.000Z' })
      assert.equal(response.headers['retry-after'], String((Date.parse('2026-12-01') - service.now) / 1_000))
      assertMatchesSchema(rateLimitedBodySchema, response)
      assert.equal(await tenant.used(), limit)
    }
  })

  test('the monthly limit covers all prompts of the organisation, including deleted ones', async () => {
    const tenant = await service.tenant()
    const other = await service.prompt(tenant.organisation, 'prompts/b.md')
    await tenant.fillMonth(999)
    const url = `/api/v1/prompts/${other.publicId}/signals`
    const request = { method: 'POST', url, headers: tenant.headers, payload: { value: 'positive' } } as const
    assert.equal((await service.app.inject(request)).statusCode, 201)
    await service.store.prompts.delete(other, service.now, operator)
    assert.equal((await tenant.signal({ value: 'positive' })).statusCode, 429)
  })

  test('a change of plan applies from the next request, also if usage exceeds the new limit', async () => {
    const tenant = await service.tenant('team')
    await tenant.fillMonth(1_500)
    await service.store.organisations.setPlan(tenant.organisation.id, 'free', service.now, operator)
    const rejected = await tenant.signal({ value: 'positive' })
    assert.equal(rejected.statusCode, 429)
    assert.deepEqual([rejected.json().error.limit, rejected.json().error.used], [1_000, 1_500])
    await service.store.organisations.setPlan(tenant.organisation.id, 'business', service.now, operator)
    assert.equal((await tenant.signal({ value: 'positive' })).statusCode, 201)
  })

  test('the monthly limit resets at the first instant of the next month, UTC', async () => {
    const now = service.now
    try {
      service.now = Date.parse('2026-12-31T23:59:59.999Z')
      const tenant = await service.tenant()
      await tenant.fillMonth(1_000)
      const rejected = await tenant.signal({ value: 'positive' })
      assert.equal(rejected.statusCode, 429)
      assert.equal(rejected.json().error.resets_at, '2027-01-01T00:00:00.000Z')
      assert.equal(rejected.headers['retry-after'], '1')
      service.now += 1
      const accepted = await tenant.signal({ value: 'positive' })
      assert.equal(accepted.statusCode, 201)
      assert.equal(accepted.json().data.created_at, '2027-01-01T00:00:00.000Z')
      assert.deepEqual(
        (await usageOf(service.url, tenant.organisation.id)).map(({ used }) => used),
        [1_000, 1],
      )
    } finally {
      service.now = now
    }
  })

  test('every response to a signal has the rate limit headers', async () => {
    const tenant = await service.tenant()
    const rateLimit = (response: Awaited<ReturnType<Tenant['signal']>>) => {
      const { headers } = response
      return [headers['ratelimit-limit'], headers['ratelimit-remaining'], headers['ratelimit-reset']].map(Number)
    }
    const reset = Math.ceil((Date.UTC(2026, 11) - service.now) / 1_000)
    assert.deepEqual(rateLimit(await tenant.signal({ value: 'positive' }, { 'idempotency-key': 'a' })), [
      1_000,
      999,
      reset,
    ])
    assert.deepEqual(rateLimit(await tenant.signal({ value: 'positive' }, { 'idempotency-key': 'a' })), [
      1_000,
      999,
      reset,
    ])
    assert.deepEqual(rateLimit(await tenant.signal({ value: 'wrong' })), [1_000, 999, reset])
    await tenant.fillMonth(999)
    const rejected = await tenant.signal({ value: 'positive' })
    assert.equal(rejected.statusCode, 429)
    assert.deepEqual(rateLimit(rejected), [1_000, 0, reset])
  })

  test('the monthly limit matches a simple model under any sequence of signals, idempotency keys, plan changes and months', async () => {
    const step = fc.oneof(
      {
        weight: 8,
        arbitrary: fc.record({
          kind: fc.constant('signal' as const),
          key: fc.option(fc.integer({ min: 0, max: 4 })),
          value: fc.constantFrom('positive', 'negative'),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({ kind: fc.constant('plan' as const), plan: fc.constantFrom('free', 'team') }),
      },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('month' as const) }) },
    )
    const now = service.now
    try {
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { maxLength: 40 }),
          fc.integer({ min: 995, max: 1_000 }),
          async (steps, before) => {
            service.now = now
            const tenant = await service.tenant()
            await tenant.fillMonth(before)
            let [used, limit] = [before, 1_000]
            const firstResponses = new Map<number, { value: string; body: string }>()
            for (const step of steps) {
              if (step.kind === 'plan') {
                limit = step.plan === 'free' ? 1_000 : 10_000
                await service.store.organisations.setPlan(
                  tenant.organisation.id,
                  step.plan as 'free' | 'team',
                  service.now,
                  operator,
                )
              } else if (step.kind === 'month') {
                service.now = Date.UTC(new Date(service.now).getUTCFullYear(), new Date(service.now).getUTCMonth() + 1)
                used = 0
              } else {
                const { key, value } = step
                const first = key === null ? undefined : firstResponses.get(key)
                const response = await tenant.signal({ value }, key === null ? {} : idempotencyHeader(key))
                if (first !== undefined) {
                  assert.equal(response.statusCode, first.value === value ? 201 : 422)
                  if (first.value === value) assert.equal(response.body, first.body)
                } else if (used >= limit) {
                  assert.equal(response.statusCode, 429)
                  assert.equal(response.json().error.used, used)
                } else {
                  assert.equal(response.statusCode, 201)
                  used++
                  if (key !== null) firstResponses.set(key, { value, body: response.body })
                }
              }
            }
          },
        ),
        { numRuns: 20 },
      )
    } finally {
      service.now = now
    }
  })
})

function idempotencyHeader(key: number): Record<string, string> {
  return { 'idempotency-key': `key-${key}` }
}
