import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onEachEngine } from '../../../testing/engines.ts'
import { useService } from '../../../testing/service.ts'

onEachEngine('Idempotency keys', (engine) => {
  const service = useService(engine)

  const headers = (key: string) => ({ 'idempotency-key': key })

  test('a repeated request gets the first response, even over the limit and months later', async () => {
    const now = service.now
    try {
      const tenant = await service.tenant()
      const body = { value: 'positive', metadata: { trace: 'a' } }
      const first = await tenant.signal(body, headers('k-1'))
      await tenant.fillMonth(999)
      const again = await tenant.signal(body, headers('k-1'))
      assert.deepEqual([again.statusCode, again.body], [201, first.body])
      service.now += 200 * 86_400_000
      const later = await tenant.signal(body, headers('k-1'))
      assert.deepEqual([later.statusCode, later.body], [201, first.body])
      assert.equal(await tenant.used(), 1_000)
    } finally {
      service.now = now
    }
  })

  test('an idempotency key is rejected with another body or prompt', async () => {
    const tenant = await service.tenant()
    await tenant.signal({ value: 'positive', metadata: { a: 1 } }, headers('k'))
    const other = await service.prompt(tenant.organisation, 'prompts/b.md')
    const responses = [
      await tenant.signal({ value: 'negative', metadata: { a: 1 } }, headers('k')),
      await tenant.signal({ value: 'positive', metadata: { a: 2 } }, headers('k')),
      await tenant.signal({ value: 'positive' }, headers('k')),
      await tenant.signal({ value: 'positive', metadata: { a: 1 }, more: true }, headers('k')),
      await service.app.inject({
        method: 'POST',
        url: `/api/v1/prompts/${other.publicId}/signals`,
        headers: { ...tenant.headers, ...headers('k') },
        payload: { value: 'positive', metadata: { a: 1 } },
      }),
    ]
    for (const response of responses) {
      assert.equal(response.statusCode, 422)
      assert.match(response.json().error.message, /Idempotency-Key was already used/)
    }
    assert.equal(await tenant.used(), 1)
  })

  test('idempotency keys of different organisations do not collide', async () => {
    const [a, b] = [await service.tenant(), await service.tenant()]
    const first = (await a.signal({ value: 'positive' }, headers('k'))).json().data
    const second = (await b.signal({ value: 'negative' }, headers('k'))).json().data
    assert.notEqual(first.id, second.id)
  })

  test('concurrent requests with one idempotency key store one signal', async () => {
    const tenant = await service.tenant()
    const responses = await Promise.all(
      Array.from({ length: 50 }, () => tenant.signal({ value: 'positive' }, headers('once'))),
    )
    assert.deepEqual([...new Set(responses.map(({ statusCode }) => statusCode))], [201])
    assert.equal(new Set(responses.map(({ body }) => body)).size, 1)
    assert.equal(await tenant.used(), 1)
  })
})
