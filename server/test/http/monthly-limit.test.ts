import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { assertMatchesSchema } from '../../../testing/assertions.ts'
import { onEachEngine } from '../../../testing/engines.ts'
import { usageOf, useService } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { rateLimitedBodySchema } from '../../src/http/error-schema.ts'

onEachEngine('The monthly limit', (engine) => {
  const service = useService(engine)

  test('answers beyond the limit of each plan with limit, used, resets_at and Retry-After', async () => {
    for (const [plan, limit] of [
      ['free', 1_000],
      ['team', 10_000],
      ['business', 100_000],
    ] as const) {
      const tenant = await service.tenant(plan)
      await tenant.fill(limit - 1)
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

  test('counts all prompts of the organisation together, deleted ones too', async () => {
    const tenant = await service.tenant()
    const other = await service.prompt(tenant.organisation)
    await tenant.fill(999)
    const url = `/api/v1/prompts/${other.publicId}/signals`
    const request = { method: 'POST', url, headers: tenant.headers, payload: { value: 'positive' } } as const
    assert.equal((await service.app.inject(request)).statusCode, 201)
    await service.store.prompts.delete(other, service.now, operator)
    assert.equal((await tenant.signal({ value: 'positive' })).statusCode, 429)
  })

  test('takes a change of plan into account on the next request, used above a lowered limit included', async () => {
    const tenant = await service.tenant('team')
    await tenant.fill(1_500)
    await service.store.organisations.setPlan(tenant.organisation.id, 'free', service.now, operator)
    const refused = await tenant.signal({ value: 'positive' })
    assert.equal(refused.statusCode, 429)
    assert.deepEqual([refused.json().error.limit, refused.json().error.used], [1_000, 1_500])
    await service.store.organisations.setPlan(tenant.organisation.id, 'business', service.now, operator)
    assert.equal((await tenant.signal({ value: 'positive' })).statusCode, 201)
  })

  test('ends with the first instant of the next month, UTC', async () => {
    const now = service.now
    try {
      service.now = Date.parse('2026-12-31T23:59:59.999Z')
      const tenant = await service.tenant()
      await tenant.fill(1_000)
      const refused = await tenant.signal({ value: 'positive' })
      assert.equal(refused.statusCode, 429)
      assert.equal(refused.json().error.resets_at, '2027-01-01T00:00:00.000Z')
      assert.equal(refused.headers['retry-after'], '1')
      service.now += 1
      const taken = await tenant.signal({ value: 'positive' })
      assert.equal(taken.statusCode, 201)
      assert.equal(taken.json().data.created_at, '2027-01-01T00:00:00.000Z')
      assert.deepEqual(
        (await usageOf(service.url, tenant.organisation.id)).map(({ used }) => used),
        [1_000, 1],
      )
    } finally {
      service.now = now
    }
  })

  test('agrees with a small model under any sequence of signals, keys, plan changes and months', async () => {
    const act = fc.oneof(
      {
        weight: 8,
        arbitrary: fc.record({
          act: fc.constant('signal' as const),
          key: fc.option(fc.integer({ min: 0, max: 4 })),
          value: fc.constantFrom('positive', 'negative'),
        }),
      },
      { weight: 1, arbitrary: fc.record({ act: fc.constant('plan' as const), plan: fc.constantFrom('free', 'team') }) },
      { weight: 1, arbitrary: fc.record({ act: fc.constant('month' as const) }) },
    )
    const now = service.now
    try {
      await fc.assert(
        fc.asyncProperty(
          fc.array(act, { maxLength: 40 }),
          fc.integer({ min: 995, max: 1_000 }),
          async (acts, before) => {
            service.now = now
            const tenant = await service.tenant()
            await tenant.fill(before)
            let [used, limit] = [before, 1_000]
            const known = new Map<number, { value: string; body: string }>()
            for (const step of acts) {
              if (step.act === 'plan') {
                limit = step.plan === 'free' ? 1_000 : 10_000
                await service.store.organisations.setPlan(
                  tenant.organisation.id,
                  step.plan as 'free' | 'team',
                  service.now,
                  operator,
                )
              } else if (step.act === 'month') {
                service.now = Date.UTC(new Date(service.now).getUTCFullYear(), new Date(service.now).getUTCMonth() + 1)
                used = 0
              } else {
                const { key, value } = step
                const first = key === null ? undefined : known.get(key)
                const answer = await tenant.signal({ value }, key === null ? {} : headersOf(key))
                if (first !== undefined) {
                  assert.equal(answer.statusCode, first.value === value ? 201 : 422)
                  if (first.value === value) assert.equal(answer.body, first.body)
                } else if (used >= limit) {
                  assert.equal(answer.statusCode, 429)
                  assert.equal(answer.json().error.used, used)
                } else {
                  assert.equal(answer.statusCode, 201)
                  used++
                  if (key !== null) known.set(key, { value, body: answer.body })
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

function headersOf(key: number): Record<string, string> {
  return { 'idempotency-key': `key-${key}` }
}
