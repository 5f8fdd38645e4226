import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import pino from 'pino'
import { onEachEngine } from '../../../testing/engines.ts'
import { useService } from '../../../testing/service.ts'
import { generateSecret, hashSecret, newApiKey } from '../../src/domain/access/api-key.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { createLearnedDrift } from '../../src/domain/impact/model/learned-drift.ts'
import { buildApp } from '../../src/http/app.ts'
import { createLastUsedTracker } from '../../src/http/keys/last-used.ts'

const unauthorized = {
  error: {
    code: 'unauthorized',
    message: 'The API key is missing or not valid. Send one in the header "Authorization: Bearer <API_KEY>".',
  },
}

onEachEngine('Authentication', (engine) => {
  const service = useService(engine)

  describe('401', () => {
    test('a missing, malformed, unknown, revoked or expired key gets the same 401', async () => {
      const tenant = await service.tenant()
      const revoked = await service.key(tenant.organisation)
      const access = await service.store.keys.findAccess(hashSecret(revoked))
      await service.store.keys.revoke(access?.keyId as number, service.now, operator)
      const expired = await service.key(tenant.organisation, 'standard', service.now)
      const headers = [
        undefined,
        '',
        'Bearer',
        'Bearer ',
        `Basic ${tenant.key}`,
        tenant.key,
        `Bearer ${tenant.key} more`,
        `Bearer ${tenant.key.slice(0, -1)}`,
        `Bearer ${tenant.key.slice(0, -1)}~`,
        `Bearer ${generateSecret()}`,
        `Bearer ${revoked}`,
        `Bearer ${expired}`,
      ]
      for (const authorization of headers) {
        for (const url of [`${tenant.path}/history`, '/api/v1/nothing', '/api/v1']) {
          const response = await service.app.inject({
            url,
            headers: authorization === undefined ? {} : { authorization },
          })
          assert.equal(response.statusCode, 401, `${authorization} ${url}`)
          assert.deepEqual(response.json(), unauthorized)
          assert.equal(response.headers['www-authenticate'], 'Bearer')
        }
      }
    })

    test('an invalid key is reported before any other problem', async () => {
      const tenant = await service.tenant()
      const response = await service.app.inject({
        method: 'POST',
        url: `/api/v1/prompts/pmt_unknown/signals`,
        headers: { authorization: 'Bearer nonsense', 'content-type': 'text/plain' },
        payload: 'not json',
      })
      assert.equal(response.statusCode, 401)
      assert.equal(await tenant.used(), 0)
    })

    test('a key in the query string or the body is ignored', async () => {
      const tenant = await service.tenant()
      const response = await service.app.inject({
        method: 'POST',
        url: `${tenant.path}/signals?api_key=${tenant.key}&authorization=Bearer%20${tenant.key}`,
        headers: { 'content-type': 'application/json' },
        payload: { value: 'positive', api_key: tenant.key },
      })
      assert.equal(response.statusCode, 401)
    })

    test('a key is rejected from the moment it expires', async () => {
      const tenant = await service.tenant()
      const key = await service.key(tenant.organisation, 'standard', service.now + 1)
      const getHistory = () =>
        service.app.inject({ url: `${tenant.path}/history`, headers: { authorization: `Bearer ${key}` } })
      assert.equal((await getHistory()).statusCode, 200)
      service.now += 1
      assert.equal((await getHistory()).statusCode, 401)
    })

    test('a revoked key is rejected on the next request', async () => {
      const tenant = await service.tenant()
      assert.equal((await tenant.history()).statusCode, 200)
      const access = await service.store.keys.findAccess(hashSecret(tenant.key))
      await service.store.keys.revoke(access?.keyId as number, service.now, operator)
      assert.equal((await tenant.history()).statusCode, 401)
      assert.equal((await tenant.signal({ value: 'positive' })).statusCode, 401)
      assert.equal(await tenant.used(), 0)
    })
  })

  test('the Bearer scheme is case-insensitive and may be followed by several spaces', async () => {
    const tenant = await service.tenant()
    for (const scheme of ['Bearer ', 'bearer ', 'BEARER ', 'bEaReR   ']) {
      const headers = { authorization: scheme + tenant.key }
      const response = await service.app.inject({ url: `${tenant.path}/history`, headers })
      assert.equal(response.statusCode, 200, scheme)
    }
  })

  test('a rotated key works next to its replacement until the overlap ends', async () => {
    const tenant = await service.tenant()
    const access = await service.store.keys.findAccess(hashSecret(tenant.key))
    const secret = generateSecret()
    const key = {
      organisationId: tenant.organisation.id,
      name: 'n',
      role: 'standard',
      createdAt: 1,
      expiresAt: null,
    } as const
    await service.store.keys.rotate(access?.keyId as number, newApiKey(secret, key), service.now + 1_000, operator)
    const statusWith = async (bearer: string) => {
      const headers = { authorization: `Bearer ${bearer}` }
      return (await service.app.inject({ url: `${tenant.path}/history`, headers })).statusCode
    }
    assert.deepEqual([await statusWith(tenant.key), await statusWith(secret)], [200, 200])
    service.now += 1_000
    assert.deepEqual([await statusWith(tenant.key), await statusWith(secret)], [401, 200])
  })

  describe('404', () => {
    test('with a valid key, unknown paths and methods under /api/v1 get 404', async () => {
      const tenant = await service.tenant()
      const unknown = [
        ['GET', '/api/v1'],
        ['GET', '/api/v1/'],
        ['GET', '/api/v1/nothing'],
        ['GET', `${tenant.path}/signals/nothing/else`],
        ['GET', '/api/v1/prompts/%zz/history'],
        ['GET', '/api/v1/%'],
        ['POST', `${tenant.path}/nothing`],
        ['PUT', `${tenant.path}/history`],
        ['HEAD', `${tenant.path}/history`],
        ['OPTIONS', `${tenant.path}/history`],
        ['DELETE', `${tenant.path}/signals`],
        ['PATCH', `${tenant.path}/signals`],
      ] as const
      for (const [method, url] of unknown) {
        const response = await service.app.inject({ method, url, headers: tenant.headers })
        assert.equal(response.statusCode, 404, `${method} ${url}`)
        if (method !== 'HEAD') assert.equal(response.json().error.code, 'not_found')
        assert.equal((await service.app.inject({ method, url })).statusCode, 401, `${method} ${url} without a key`)
      }
    })

    test('an unknown prompt is reported before an invalid body', async () => {
      const tenant = await service.tenant()
      for (const url of ['/api/v1/nothing', '/api/v1/prompts/pmt_x/signals']) {
        for (const type of ['text/plain', 'application/json']) {
          const headers = { ...tenant.headers, 'content-type': type }
          const response = await service.app.inject({ method: 'POST', url, headers, payload: 'x'.repeat(100_000) })
          assert.equal(response.statusCode, 404, `${url} ${type}`)
        }
      }
    })

    test('an unknown, malformed, deleted or foreign prompt ID gets the same 404', async () => {
      const tenant = await service.tenant()
      const other = await service.tenant()
      const deleted = await service.prompt(tenant.organisation, 'prompts/b.md')
      await service.store.prompts.delete(deleted, service.now, operator)
      const ids = [
        'pmt_000000000000000000000000',
        'pmt_',
        'x',
        '%00',
        `${tenant.prompt.publicId}%00`,
        'pmt_%F0%9F%92%A9',
        "'%20or%201=1--",
        '..%2F..',
        'x'.repeat(5_000),
        tenant.prompt.publicId.toLowerCase(),
        deleted.publicId,
        other.prompt.publicId,
        String(tenant.prompt.id),
      ]
      const bodies = new Set<string>()
      for (const id of ids) {
        const history = await service.app.inject({ url: `/api/v1/prompts/${id}/history`, headers: tenant.headers })
        const signal = await service.app.inject({
          method: 'POST',
          url: `/api/v1/prompts/${id}/signals`,
          headers: tenant.headers,
          payload: { value: 'positive' },
        })
        assert.deepEqual([history.statusCode, signal.statusCode], [404, 404], id)
        bodies.add(history.body).add(signal.body)
      }
      assert.deepEqual([...bodies].length, 1)
      assert.equal(JSON.parse([...bodies][0] as string).error.code, 'not_found')
    })
  })

  test('every missing prompt takes the same lookup, so timing reveals nothing', async (t) => {
    const tenant = await service.tenant()
    const other = await service.tenant()
    const lookups: string[] = []
    const { store, lastUsed } = service
    const find: typeof store.prompts.find = (organisationId, publicId) => {
      lookups.push(publicId)
      return store.prompts.find(organisationId, publicId)
    }
    const app = buildApp({
      store: { ...store, prompts: { ...store.prompts, find } },
      lastUsed,
      repositories: service.repositories,
      alerts: service.alerts,
      propose: service.propose,
      voters: service.voters,
      vault: service.syncContext.vault,
      learned: createLearnedDrift(store.drift, () => service.now),
      publicUrl: () => 'https://ledger.example',
      consoleFolder: service.consoleFolder,
      clock: () => service.now,
      log: pino({ level: 'silent' }),
      limits: service.limits,
      planLimits: service.planLimits,
      trustedProxies: [],
      organisationLimits: service.organisationLimits,
      signIn: service.signIn,
    })
    t.after(() => app.close())
    const ids = ['malformed', 'pmt_000000000000000000000000', other.prompt.publicId]
    for (const id of ids) await app.inject({ url: `/api/v1/prompts/${id}/history`, headers: tenant.headers })
    assert.deepEqual(lookups, ['pmt_', ...ids.slice(1)])
  })

  describe('403', () => {
    test('an ingest key that requests history gets 403, whether or not the prompt exists', async () => {
      const tenant = await service.tenant('free', 'ingest')
      for (const url of [`${tenant.path}/history`, '/api/v1/prompts/pmt_x/history']) {
        const response = await service.app.inject({ url, headers: tenant.headers })
        assert.equal(response.statusCode, 403)
        assert.equal(response.json().error.code, 'forbidden')
      }
    })
  })

  test('standard and admin keys can create signals and read history, ingest keys only create, and delivery, reader and deploy keys only read', async () => {
    const expected = [
      ['ingest', 201, 403],
      ['recorder', 403, 403],
      ['delivery', 403, 200],
      ['reader', 403, 200],
      ['standard', 201, 200],
      ['deploy', 403, 200],
      ['admin', 201, 200],
    ] as const
    for (const [role, signal, history] of expected) {
      const tenant = await service.tenant('free', role)
      const created = await tenant.signal({ value: 'positive' })
      assert.deepEqual([created.statusCode, (await tenant.history()).statusCode], [signal, history], role)
    }
  })

  test('last-used times that could not be written are written with the next flush', async () => {
    const tenant = await service.tenant()
    const [key] = await service.store.keys.list(tenant.organisation.id)
    let failing = true
    const lastUsed = createLastUsedTracker({
      ...service.store.keys,
      recordUses: (uses) => (failing ? Promise.reject(new Error('disk full')) : service.store.keys.recordUses(uses)),
    })
    lastUsed.record(key?.id as number, 5)
    await assert.rejects(lastUsed.flush(), /disk full/)
    failing = false
    await lastUsed.flush()
    assert.equal((await service.store.keys.find(key?.id as number))?.lastUsedAt, 5)
  })

  test('the last-used time of a key is recorded without a write per request', async () => {
    const tenant = await service.tenant()
    const [key] = await service.store.keys.list(tenant.organisation.id)
    for (let i = 0; i < 5; i++) await tenant.history()
    assert.equal((await service.store.keys.find(key?.id as number))?.lastUsedAt, null)
    await service.lastUsed.flush()
    assert.equal((await service.store.keys.find(key?.id as number))?.lastUsedAt, service.now)
  })
})
