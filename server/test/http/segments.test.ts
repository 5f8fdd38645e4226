import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LightMyRequestResponse } from 'fastify'
import { assertError } from '../../../testing/assertions.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { type Tenant, useService } from '../../../testing/service.ts'

onOneEngine('Declared segments', (engine) => {
  const service = useService(engine)

  function put({ headers }: Pick<Tenant, 'headers'>, url: string, payload: object): Promise<LightMyRequestResponse> {
    return service.app.inject({ method: 'PUT', url, headers, payload })
  }

  async function get({ headers }: Tenant, url: string): Promise<unknown> {
    const response = await service.app.inject({ url, headers })
    assert.equal(response.statusCode, 200, response.body)
    return response.json().data
  }

  test('those of the organisation apply to a prompt until it declares its own', async () => {
    const tenant = await service.tenant('free', 'admin')
    const ofPrompt = `${tenant.path}/segments`
    assert.deepEqual(await get(tenant, '/api/v1/segments'), { keys: [] })
    assert.deepEqual(await get(tenant, ofPrompt), { keys: [], source: 'organisation' })
    await put(tenant, '/api/v1/segments', { keys: ['model', 'locale'] })
    assert.deepEqual(await get(tenant, '/api/v1/segments'), { keys: ['model', 'locale'] })
    assert.deepEqual(await get(tenant, ofPrompt), { keys: ['model', 'locale'], source: 'organisation' })
    const own = await put(tenant, ofPrompt, { keys: ['app version'] })
    assert.deepEqual(own.json(), { data: { keys: ['app version'], source: 'prompt' } })
    await put(tenant, ofPrompt, { keys: [] })
    assert.deepEqual(await get(tenant, ofPrompt), { keys: [], source: 'prompt' })
    await put(tenant, ofPrompt, { keys: null })
    assert.deepEqual(await get(tenant, ofPrompt), { keys: ['model', 'locale'], source: 'organisation' })
    const other = await service.tenant('free', 'admin')
    assert.deepEqual(await get(other, '/api/v1/segments'), { keys: [] })
  })

  test('invalid keys get 422, say which one is wrong, and change nothing', async () => {
    const tenant = await service.tenant('free', 'admin')
    const invalid: [object, RegExp][] = [
      [{}, /^keys is required/],
      [{ keys: 'model' }, /^keys must be an array/],
      [{ keys: [1] }, /^keys\.0 must be a string/],
      [{ keys: ['a', 'b', 'c', 'd', 'e', 'f'] }, /^keys must have at most 5 keys/],
      [{ keys: ['a', ' '] }, /^keys\.1 must not be empty/],
      [{ keys: ['a', 'a'] }, /^keys\.1 must not repeat/],
      [{ keys: ['x'.repeat(101)] }, /^keys\.0 must be at most 100 characters/],
      [{ keys: ['a\u0000'] }, /^keys\.0 must not contain control characters/],
      [{ keys: ['a\u200b'] }, /^keys\.0 must not contain hidden characters/],
    ]
    for (const url of ['/api/v1/segments', `${tenant.path}/segments`]) {
      for (const [body, message] of invalid) {
        assertError(await put(tenant, url, body), 422, 'validation_error', message)
      }
    }
    assertError(
      await put(tenant, '/api/v1/segments', { keys: null }),
      422,
      'validation_error',
      /^keys must be an array/,
    )
    assert.deepEqual(await get(tenant, `${tenant.path}/segments`), { keys: [], source: 'organisation' })
  })

  test('the audit log says what was declared before and after', async () => {
    const tenant = await service.tenant('free', 'admin')
    await put(tenant, '/api/v1/segments', { keys: ['model'] })
    await put(tenant, '/api/v1/segments', { keys: ['model'] })
    await put(tenant, `${tenant.path}/segments`, { keys: ['a, b', 'c'] })
    const { data } = (await service.app.inject({ url: '/api/v1/audit', headers: tenant.headers })).json()
    const changes = data.filter(({ action }: { action: string }) => action.endsWith('segments_changed'))
    assert.deepEqual(
      changes.map(({ action, subject, details }: Record<string, unknown>) => ({ action, subject, details })),
      [
        {
          action: 'prompt.segments_changed',
          subject: { id: tenant.prompt.publicId, name: tenant.prompt.name },
          details: { from: 'those of the organisation', to: '["a, b","c"]' },
        },
        {
          action: 'organisation.segments_changed',
          subject: { id: String(tenant.organisation.id), name: tenant.organisation.name },
          details: { from: '[]', to: '["model"]' },
        },
      ],
    )
  })
})
