import assert from 'node:assert/strict'
import { test } from 'node:test'
import { issuedKeySchema, keyPageSchema } from '../../../contract/keys.ts'
import { assertError, assertMatchesSchema } from '../../../testing/assertions.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { queryRows } from '../../../testing/rows.ts'
import { type Tenant, useService } from '../../../testing/service.ts'

const hour = 3_600_000
const day = 24 * hour

onOneEngine('API keys', (engine) => {
  const service = useService(engine)
  const admin = () => service.tenant('free', 'admin')

  function request(key: string, method: 'GET' | 'POST' | 'DELETE', path: string, body?: object | string) {
    return service.app.inject({
      method,
      url: `/api/v1/keys${path}`,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
  }

  async function create(tenant: Tenant, body: object = {}): Promise<{ id: number; key: string }> {
    const response = await request(tenant.key, 'POST', '', body)
    assert.equal(response.statusCode, 201, response.body)
    return response.json().data
  }

  /** The status of a history request with the key. */
  async function statusWith(tenant: Tenant, key: string): Promise<number> {
    const headers = { authorization: `Bearer ${key}` }
    return (await service.app.inject({ url: `${tenant.path}/history`, headers })).statusCode
  }

  test('a created key works immediately, is shown only once, and is stored as a hash', async () => {
    const tenant = await admin()
    const response = await request(tenant.key, 'POST', '', {
      name: 'ci',
      role: 'admin',
      expires_at: '2026-12-15T14:00:00+02:00',
      ignored: 1,
    })
    assert.equal(response.statusCode, 201)
    assert.equal(response.headers['content-type'], 'application/json; charset=utf-8')
    assertMatchesSchema(issuedKeySchema, response)
    const { id, key, ...rest } = response.json().data
    assert.deepEqual(rest, {
      organisation_id: tenant.organisation.id,
      person_id: null,
      name: 'ci',
      role: 'admin',
      prompts: null,
      created_at: '2026-11-15T12:00:00.000Z',
      expires_at: '2026-12-15T12:00:00.000Z',
    })
    assert.equal(await statusWith(tenant, key), 200)
    const listed = await request(tenant.key, 'GET', '')
    assert.ok(!listed.body.includes(key.slice(4, 30)))
    const rows = await queryRows(service.url, `select * from api_keys where id = ${id}`)
    const stored = JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? String(value) : value))
    assert.ok(!stored.includes(key.slice(4, 30)) && !service.log.join('').includes(key.slice(4, 30)))
  })

  test('a key is unnamed, standard and without expiry by default', async () => {
    const tenant = await admin()
    for (const body of [{}, { expires_at: null }]) {
      const { data } = (await request(tenant.key, 'POST', '', body)).json()
      assert.deepEqual([data.name, data.role, data.expires_at], ['unnamed', 'standard', null])
    }
  })

  test('a key stops working at its expiry time', async () => {
    const tenant = await admin()
    const now = service.now
    const { key } = await create(tenant, { expires_at: new Date(now + hour).toISOString() })
    try {
      service.now = now + hour - 1
      assert.equal(await statusWith(tenant, key), 200)
      service.now++
      assert.equal(await statusWith(tenant, key), 401)
    } finally {
      service.now = now
    }
  })

  test('keys are listed oldest first with their status, in pages', async () => {
    const tenant = await admin()
    const created = [await create(tenant, { name: 'a' }), await create(tenant, { name: 'b', role: 'ingest' })]
    await request(tenant.key, 'DELETE', `/${created[0]?.id}`)
    await service.lastUsed.flush()
    const response = await request(tenant.key, 'GET', '')
    assert.equal(response.headers['content-type'], 'application/json; charset=utf-8')
    assertMatchesSchema(keyPageSchema, response)
    const { data, pagination } = response.json()
    assert.deepEqual(pagination, { current_page: 1, total_pages: 1, total_count: 3, per_page: 25 })
    const now = '2026-11-15T12:00:00.000Z'
    const { id, ...ownKey } = data[0]
    assert.ok(Number.isInteger(id))
    assert.deepEqual(ownKey, {
      organisation_id: tenant.organisation.id,
      person_id: null,
      name: 'test',
      role: 'admin',
      prompts: null,
      hint: tenant.key.slice(-4),
      created_at: now,
      expires_at: null,
      revoked_at: null,
      last_used_at: now,
    })
    const states = data.slice(1).map((key: Record<string, unknown>) => [key.name, key.revoked_at, key.last_used_at])
    assert.deepEqual(states, [
      ['a', now, null],
      ['b', null, null],
    ])
    const second = (await request(tenant.key, 'GET', '?page=2&limit=2')).json()
    assert.deepEqual(
      second.data.map(({ id }: { id: number }) => id),
      [created[1]?.id],
    )
    assert.deepEqual(second.pagination, { current_page: 2, total_pages: 2, total_count: 3, per_page: 2 })
  })

  test('a revoked key is rejected on the next request, and revoking it again succeeds', async () => {
    const tenant = await admin()
    const { id, key } = await create(tenant)
    assert.equal(await statusWith(tenant, key), 200)
    for (let i = 0; i < 2; i++) {
      const response = await request(tenant.key, 'DELETE', `/${id}`)
      assert.deepEqual([response.statusCode, response.body], [204, ''])
      assert.equal(await statusWith(tenant, key), 401)
    }
  })

  test('a key can revoke itself: that request succeeds and the next is rejected', async () => {
    const tenant = await admin()
    const { id } = (await request(tenant.key, 'GET', '')).json().data[0]
    assert.equal((await request(tenant.key, 'DELETE', `/${id}`)).statusCode, 204)
    assertError(await request(tenant.key, 'GET', ''), 401, 'unauthorized')
  })

  test('a rotated key gets an identical replacement and works until the overlap ends', async () => {
    const tenant = await admin()
    const now = service.now
    const body = {
      name: 'app',
      role: 'standard',
      prompts: 'prompts/**',
      expires_at: new Date(now + 90 * day).toISOString(),
    }
    const old = await create(tenant, body)
    try {
      service.now = now + 10 * day
      const response = await request(tenant.key, 'POST', `/${old.id}/rotate`, { overlap_hours: 2 })
      assert.equal(response.statusCode, 201)
      assertMatchesSchema(issuedKeySchema, response)
      const { id, key, ...rest } = response.json().data
      assert.deepEqual(rest, {
        organisation_id: tenant.organisation.id,
        person_id: null,
        name: 'app',
        role: 'standard',
        prompts: 'prompts/**',
        created_at: new Date(now + 10 * day).toISOString(),
        expires_at: new Date(now + 100 * day).toISOString(),
      })
      assert.notEqual(id, old.id)
      service.now += 2 * hour - 1
      assert.deepEqual([await statusWith(tenant, old.key), await statusWith(tenant, key)], [200, 200])
      service.now++
      assert.deepEqual([await statusWith(tenant, old.key), await statusWith(tenant, key)], [401, 200])
    } finally {
      service.now = now
    }
  })

  test('the overlap defaults to one day, with or without a body, and may be zero', async () => {
    const tenant = await admin()
    const expiryOf = async (id: number) => (await service.store.keys.find(id))?.expiresAt
    for (const body of [undefined, '', {}]) {
      const { id } = await create(tenant)
      assert.equal((await request(tenant.key, 'POST', `/${id}/rotate`, body)).statusCode, 201)
      assert.equal(await expiryOf(id), service.now + day)
    }
    const withoutBody = await create(tenant)
    const response = await service.app.inject({
      method: 'POST',
      url: `/api/v1/keys/${withoutBody.id}/rotate`,
      headers: tenant.headers,
    })
    assert.equal(response.statusCode, 201)
    const { id, key } = await create(tenant)
    assert.equal((await request(tenant.key, 'POST', `/${id}/rotate`, { overlap_hours: 0 })).statusCode, 201)
    assert.equal(await statusWith(tenant, key), 401)
  })

  test('a revoked or expired key cannot be rotated, and no key is created', async () => {
    const tenant = await admin()
    const now = service.now
    const revoked = await create(tenant)
    await request(tenant.key, 'DELETE', `/${revoked.id}`)
    const expired = await create(tenant, { expires_at: new Date(now + hour).toISOString() })
    const before = (await request(tenant.key, 'GET', '')).json().pagination.total_count
    try {
      service.now = now + hour
      for (const { id } of [revoked, expired]) {
        const response = await request(tenant.key, 'POST', `/${id}/rotate`)
        assertError(response, 409, 'conflict', new RegExp(`^Key ${id} is revoked or expired`))
      }
    } finally {
      service.now = now
    }
    assert.equal((await request(tenant.key, 'GET', '')).json().pagination.total_count, before)
  })

  test('the latest possible expiry is the last time ISO 8601 can express, also for the replacement', async () => {
    const tenant = await admin()
    const { id } = await create(tenant, { expires_at: '9999-12-31T23:59:59.999Z' })
    const now = service.now
    try {
      service.now = now + day
      const { data } = (await request(tenant.key, 'POST', `/${id}/rotate`)).json()
      assert.equal(data.expires_at, '9999-12-31T23:59:59.999Z')
    } finally {
      service.now = now
    }
  })

  test('each invalid field of a key is rejected by name, and no key is created', async () => {
    const tenant = await admin()
    const { id } = await create(tenant)
    const wrong: [string, object | string, RegExp][] = [
      ['', { name: '' }, /^name must not be empty/],
      ['', { name: 'a\u0000b' }, /^name must not contain control characters/],
      ['', '{"name":"\\ud800"}', /^name must be valid Unicode/],
      ['', { name: 'x'.repeat(201) }, /^name must be at most 200 characters/],
      ['', { name: null }, /^name must be a string/],
      [
        '',
        { role: 'owner' },
        /^role must be "ingest", "recorder", "delivery", "reader", "standard", "deploy", "admin" or "signing"/,
      ],
      ['', { role: ['admin'] }, /^role must be /],
      ['', { prompts: '' }, /^prompts must not be empty/],
      ['', { prompts: 7 }, /^prompts must be a string or null/],
      ['', { prompts: 'x'.repeat(201) }, /^prompts must be at most 200 characters/],
      ['', { prompts: '*/'.repeat(11) }, /^prompts must have at most 10 wildcards/],
      ['', { prompts: 'a/**', role: 'admin' }, /^prompts cannot limit the role admin/],
      ['', { expires_at: '2026-11-15T12:00:00.000Z' }, /^expires_at must be in the future/],
      ['', { expires_at: '1999-01-01T00:00:00Z' }, /^expires_at must be in the future/],
      ['', { expires_at: '2027-02-30T00:00:00Z' }, /^expires_at must be an ISO 8601 time/],
      ['', { expires_at: '2027-01-01' }, /^expires_at must be an ISO 8601 time/],
      ['', { expires_at: 1_900_000_000_000 }, /^expires_at must be a string or null/],
      ['', '[]', /^The body must be a JSON object/],
      ['', '', /^The body is empty/],
      [`/${id}/rotate`, { overlap_hours: -1 }, /^overlap_hours must be >= 0/],
      [`/${id}/rotate`, { overlap_hours: 8_761 }, /^overlap_hours must be <= 8760/],
      [`/${id}/rotate`, { overlap_hours: 1.5 }, /^overlap_hours must be an integer/],
      [`/${id}/rotate`, { overlap_hours: '24' }, /^overlap_hours must be an integer/],
      [`/${id}/rotate`, { overlap_hours: null }, /^overlap_hours must be an integer/],
      [`/${id}/rotate`, 'null', /^The body must be a JSON object/],
      [`/${id}/rotate`, '[]', /^The body must be a JSON object/],
    ]
    for (const [path, body, message] of wrong) {
      assertError(await request(tenant.key, 'POST', path, body), 422, 'validation_error', message)
    }
    assert.equal((await request(tenant.key, 'GET', '')).json().pagination.total_count, 2)
    assert.equal((await service.store.keys.find(id))?.expiresAt, null)
  })

  test('keys of another organisation get 404', async () => {
    const [tenant, other] = [await admin(), await admin()]
    const { id, key } = await create(other)
    for (const path of [`/${id}`, '/999999999', '/0', '/nonsense', '/1e3', '/99999999999999999999', '/%00']) {
      assertError(await request(tenant.key, 'DELETE', path), 404, 'not_found')
      for (const body of [{}, { overlap_hours: -1 }, '{']) {
        assertError(await request(tenant.key, 'POST', `${path}/rotate`, body), 404, 'not_found')
      }
    }
    assert.equal(await statusWith(other, key), 200)
    assert.equal((await service.store.keys.find(id))?.expiresAt, null)
    assert.equal((await request(tenant.key, 'GET', '')).json().pagination.total_count, 1)
  })

  test('only admin keys can manage keys', async () => {
    const tenant = await admin()
    const { id } = await create(tenant)
    const operations = [
      ['GET', ''],
      ['POST', ''],
      ['DELETE', `/${id}`],
      ['POST', `/${id}/rotate`],
    ] as const
    for (const [method, path] of operations) {
      for (const role of ['ingest', 'standard'] as const) {
        const response = await request(await service.key(tenant.organisation, role), method, path, '{}')
        assertError(response, 403, 'forbidden')
      }
      assertError(await request('', method, path, '{}'), 401, 'unauthorized')
    }
    assert.equal(await service.store.keys.find(id).then((key) => key?.revokedAt), null)
  })
})
