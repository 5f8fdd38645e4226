import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { InjectOptions, LightMyRequestResponse } from 'fastify'
import { assertError, assertMatchesSchema } from '../../../testing/assertions.ts'
import { promptledgerJson, startServe } from '../../../testing/command.ts'
import { onEachEngine } from '../../../testing/engines.ts'
import { openTestStore, queryRows, type Tenant, useService } from '../../../testing/service.ts'
import { generateSecret, hashSecret } from '../../src/domain/access/api-key.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { hashToken } from '../../src/domain/access/session.ts'
import { isSameOrigin } from '../../src/http/same-origin.ts'
import { sessionCookie, sessionTokenIn } from '../../src/http/sessions/cookie.ts'
import { sessionSchema } from '../../src/http/sessions/schema.ts'

const hour = 3_600_000
const day = 24 * hour
const fromOurPage = { 'sec-fetch-site': 'same-origin' }

/** The cookie of an answer as a browser would send it back. */
function cookieOf(response: LightMyRequestResponse): string {
  const [cookie = ''] = String(response.headers['set-cookie']).split(';')
  return cookie
}

onEachEngine('A session', (engine) => {
  const service = useService(engine)

  function signInWith(key: string): Promise<LightMyRequestResponse> {
    return service.app.inject({
      method: 'POST',
      url: '/api/v1/session',
      headers: { ...fromOurPage, authorization: `Bearer ${key}` },
    })
  }

  async function signIn(key: string): Promise<string> {
    const response = await signInWith(key)
    assert.equal(response.statusCode, 201, response.body)
    return cookieOf(response)
  }

  function ask(cookie: string, options: InjectOptions | string): Promise<LightMyRequestResponse> {
    const { headers, ...rest } = typeof options === 'string' ? { url: options } : options
    return service.app.inject({ ...rest, headers: { cookie, ...headers } })
  }

  async function statusOf(cookie: string): Promise<number> {
    return (await ask(cookie, '/api/v1/session')).statusCode
  }

  async function keyIdOf(secret: string): Promise<number> {
    return (await service.store.keys.findAccess(hashSecret(secret)))?.keyId as number
  }

  /** Runs something at another time. */
  async function at(now: number, act: () => Promise<void>): Promise<void> {
    const before = service.now
    service.now = now
    try {
      await act()
    } finally {
      service.now = before
    }
  }

  test('is begun with a key, and says what the key opens', async () => {
    const tenant = await service.tenant('team', 'admin')
    const response = await signInWith(tenant.key)
    assert.equal(response.statusCode, 201)
    assert.equal(response.headers['cache-control'], 'no-store')
    assert.match(
      String(response.headers['set-cookie']),
      /^promptledger_session=[0-9A-Za-z]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=2592000; Secure$/,
    )
    assert.deepEqual(response.json(), {
      data: {
        organisation: { id: tenant.organisation.id, name: 'Acme', plan: 'team' },
        key: {
          id: await keyIdOf(tenant.key),
          name: 'test',
          role: 'admin',
          hint: tenant.key.slice(-4),
          expires_at: null,
        },
        expires_at: new Date(service.now + 30 * day).toISOString(),
      },
    })
    const again = await ask(cookieOf(response), '/api/v1/session')
    assert.equal(again.statusCode, 200)
    assert.deepEqual(again.json(), response.json())
    assertMatchesSchema(sessionSchema, again)
  })

  test('has a token of its own each time, whatever cookie somebody has put there before', async () => {
    const { key } = await service.tenant()
    const planted = `promptledger_session=${'A'.repeat(43)}`
    const sent = { ...fromOurPage, authorization: `Bearer ${key}`, cookie: planted }
    const begin = async () =>
      cookieOf(await service.app.inject({ method: 'POST', url: '/api/v1/session', headers: sent }))
    const cookies = [await begin(), await begin()]
    assert.equal(new Set([planted, ...cookies]).size, 3)
    assert.deepEqual(await Promise.all([planted, ...cookies].map(statusOf)), [401, 200, 200])
  })

  test('opens what its key opens and nothing else', async () => {
    const [tenant, other] = [await service.tenant('free', 'standard'), await service.tenant('free', 'standard')]
    const cookie = await signIn(tenant.key)
    assert.equal((await ask(cookie, `${tenant.path}/history`)).statusCode, 200)
    assertError(await ask(cookie, `${other.path}/history`), 404, 'not_found')
    assertError(await ask(cookie, '/api/v1/keys'), 403, 'forbidden')
    const signal: InjectOptions = {
      method: 'POST',
      url: `${tenant.path}/signals`,
      headers: { ...fromOurPage, 'content-type': 'application/json' },
      payload: '{"value":"positive"}',
    }
    assert.equal((await ask(cookie, signal)).statusCode, 201)
  })

  test('counts as a use of its key', async () => {
    const tenant = await service.tenant()
    const assertUsedNow = async () => {
      await service.lastUsed.flush()
      assert.equal((await service.store.keys.find(await keyIdOf(tenant.key)))?.lastUsedAt, service.now)
    }
    const cookie = await signIn(tenant.key)
    await assertUsedNow()
    await at(service.now + hour, async () => {
      await statusOf(cookie)
      await assertUsedNow()
    })
  })

  test('is not begun with a wrong, revoked or expired key, nor with one of role ingest', async () => {
    const { organisation, key } = await service.tenant()
    const revoked = await service.key(organisation)
    await service.store.keys.revoke(await keyIdOf(revoked), service.now, operator)
    const expired = await service.key(organisation, 'admin', service.now)
    const wrong = ['', 'nonsense', `Bearer ${key}`, key.slice(0, -1), generateSecret(), revoked, expired]
    for (const key of wrong) {
      const response = await signInWith(key)
      assertError(response, 401, 'unauthorized')
      assert.equal(response.headers['set-cookie'], undefined)
    }
    assertError(await signInWith(await service.key(organisation, 'ingest')), 403, 'forbidden')
    const told = { url: '/api/v1/session', headers: { 'content-type': 'application/json' }, payload: { key } }
    assertError(await service.app.inject({ method: 'POST', ...told }), 401, 'unauthorized')
    const [row] = await queryRows(
      service.url,
      `select count(*) as n from sessions where organisation_id = ${organisation.id}`,
    )
    assert.equal(Number(row?.n), 0)
  })

  test('ends with signing out, which clears the cookie, and the key works on', async () => {
    const tenant = await service.tenant()
    const [cookie, elsewhere] = [await signIn(tenant.key), await signIn(tenant.key)]
    assert.equal(await statusOf(cookie), 200)
    const response = await ask(cookie, { method: 'DELETE', url: '/api/v1/session', headers: fromOurPage })
    assert.deepEqual([response.statusCode, response.body], [204, ''])
    assert.match(String(response.headers['set-cookie']), /^promptledger_session=; Path=\/; .*Max-Age=0/)
    assert.deepEqual([await statusOf(cookie), await statusOf(elsewhere)], [401, 200])
    assert.equal((await tenant.history()).statusCode, 200)
  })

  test('ends at once when its key is revoked', async () => {
    const tenant = await service.tenant()
    const cookie = await signIn(tenant.key)
    assert.equal(await statusOf(cookie), 200)
    await service.store.keys.revoke(await keyIdOf(tenant.key), service.now, operator)
    assertError(await ask(cookie, '/api/v1/session'), 401, 'unauthorized')
  })

  test('ends when its key is rotated out, with the overlap', async () => {
    const tenant = await service.tenant('free', 'admin')
    const key = await service.key(tenant.organisation)
    const cookie = await signIn(key)
    assert.equal(await statusOf(cookie), 200)
    const response = await service.app.inject({
      method: 'POST',
      url: `/api/v1/keys/${await keyIdOf(key)}/rotate`,
      headers: { ...tenant.headers, 'content-type': 'application/json' },
      payload: '{"overlap_hours":2}',
    })
    assert.equal(response.statusCode, 201)
    const end = service.now + 2 * hour
    await at(end - 1, async () => {
      const { data } = (await ask(cookie, '/api/v1/session')).json()
      assert.equal(data.expires_at, new Date(end).toISOString())
    })
    await at(end, async () => assert.equal(await statusOf(cookie), 401))
  })

  test('ends with its key, or after 30 days', async () => {
    const { organisation, key } = await service.tenant()
    const short = await signInWith(await service.key(organisation, 'standard', service.now + hour))
    assert.match(String(short.headers['set-cookie']), /Max-Age=3600;/)
    assert.equal(short.json().data.expires_at, new Date(service.now + hour).toISOString())
    const long = await signIn(key)
    const statuses = async () => [await statusOf(cookieOf(short)), await statusOf(long)]
    await at(service.now + hour - 1, async () => assert.deepEqual(await statuses(), [200, 200]))
    await at(service.now + hour, async () => assert.deepEqual(await statuses(), [401, 200]))
    await at(service.now + 30 * day - 1, async () => assert.deepEqual(await statuses(), [401, 200]))
    await at(service.now + 30 * day, async () => assert.deepEqual(await statuses(), [401, 401]))
  })

  test('is removed from the database once it has expired and somebody signs in', async () => {
    const { organisation, key } = await service.tenant()
    const stored = async () => {
      const sql = `select token_hash from sessions where organisation_id = ${organisation.id}`
      return (await queryRows(service.url, sql)).map(({ token_hash }) => token_hash)
    }
    const first = await signIn(await service.key(organisation, 'standard', service.now + hour))
    const second = await signIn(key)
    const hashes = [first, second].map((cookie) => hashToken(sessionTokenIn(cookie) as string))
    assert.deepEqual((await stored()).sort(), hashes.toSorted())
    await at(service.now + hour, async () => {
      const third = await signIn(key)
      assert.deepEqual((await stored()).sort(), [hashes[1], hashToken(sessionTokenIn(third) as string)].sort())
    })
  })

  test('leaves neither its token nor the key in the database or the log', async () => {
    const tenant = await service.tenant()
    const cookie = await signIn(tenant.key)
    await statusOf(cookie)
    await signInWith(generateSecret())
    const token = sessionTokenIn(cookie) as string
    const rows = JSON.stringify(
      await queryRows(service.url, `select * from sessions where organisation_id = ${tenant.organisation.id}`),
    )
    assert.ok(rows.includes(hashToken(token)))
    assert.ok(service.log.some((line) => line.includes('"/api/v1/session"')))
    for (const secret of [token, tenant.key]) {
      assert.ok(!rows.includes(secret))
      assert.ok(!service.log.join('').includes(secret))
    }
  })

  test('is seen, and its end is seen, by every process on the same database', async () => {
    const tenant = await service.tenant()
    const [mine, theirs] = [await signIn(tenant.key), await signIn(tenant.key)]
    const hashes = [mine, theirs].map((cookie) => hashToken(sessionTokenIn(cookie) as string)) as [string, string]
    const other = await openTestStore(service.url, () => service.now)
    try {
      for (const hash of hashes) assert.notEqual(await other.sessions.findAccess(hash), null)
      assert.deepEqual([await statusOf(mine), await statusOf(theirs)], [200, 200])
      // Ended here, seen there.
      await ask(mine, { method: 'DELETE', url: '/api/v1/session', headers: fromOurPage })
      await seen()
      await other.refresh()
      assert.equal(await other.sessions.findAccess(hashes[0]), null)
      assert.notEqual(await other.sessions.findAccess(hashes[1]), null)
      // The key is revoked there, seen here.
      await other.keys.revoke(await keyIdOf(tenant.key), service.now, operator)
      await seen()
      assertError(await signInWith(tenant.key), 401, 'unauthorized')
      assert.equal(await statusOf(theirs), 401)
    } finally {
      await other.close()
    }
  })

  test('works in a second process that is running, until the command revokes its key', async () => {
    const tenant = await service.tenant()
    const running = await startServe({ DATABASE_URL: service.url, PROMPTLEDGER_FIRST_RUN: 'off' })
    try {
      const url = `${running.address}/api/v1/session`
      const response = await fetch(url, {
        method: 'POST',
        headers: { authorization: `Bearer ${tenant.key}` },
      })
      assert.equal(response.status, 201)
      const [setCookie = ''] = response.headers.getSetCookie()
      // It is reached over plain HTTP there.
      assert.doesNotMatch(setCookie, /Secure/)
      const [cookie = ''] = setCookie.split(';')
      const status = async () => (await fetch(url, { headers: { cookie } })).status
      assert.equal(await status(), 200)
      // There it has begun on the clock of the machine; here, where it is another time, it would long be over.
      await promptledgerJson(service.url, ['key', 'revoke', String(await keyIdOf(tenant.key))])
      await seen()
      assert.equal(await status(), 401)
      assert.ok(!running.output().stderr.includes(cookie))
    } finally {
      await running.stop()
    }
  })

  describe('and other origins:', () => {
    const foreign: Record<string, string>[] = [
      {},
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
      { 'sec-fetch-site': 'cross-site', origin: 'https://ledger.example' },
      { origin: 'https://evil.example' },
      { origin: 'https://ledger.example.evil.example' },
      { origin: 'http://ledger.example' },
      { origin: 'https://ledger.example:8443' },
      { origin: 'null' },
      { origin: '' },
      { origin: 'nonsense' },
    ]
    const ours: Record<string, string>[] = [
      fromOurPage,
      { origin: 'https://ledger.example' },
      { origin: 'http://10.0.0.7:3000', host: '10.0.0.7:3000' },
      { origin: 'https://inside.example', host: 'Inside.example' },
      { 'sec-fetch-site': 'same-origin', origin: 'https://behind-a-proxy.example' },
    ]

    test('what changes something by cookie is refused unless it comes from a page of ours', async () => {
      const tenant = await service.tenant('free', 'admin')
      const cookie = await signIn(tenant.key)
      const attempts: InjectOptions[] = [
        { method: 'POST', url: '/api/v1/keys', payload: '{"role":"admin"}' },
        { method: 'POST', url: `${tenant.path}/signals`, payload: '{"value":"negative"}' },
        { method: 'PATCH', url: tenant.path, payload: '{"name":"stolen"}' },
        { method: 'DELETE', url: tenant.path },
        { method: 'DELETE', url: '/api/v1/session' },
        { method: 'POST', url: '/api/v1/nothing' },
      ]
      for (const headers of foreign) {
        for (const attempt of attempts) {
          const type = attempt.payload === undefined ? {} : { 'content-type': 'application/json' }
          const response = await ask(cookie, { ...attempt, headers: { ...headers, ...type } })
          assertError(response, 403, 'forbidden')
          assert.match(response.json().error.message, /only from pages of this very service \(same origin\)/)
        }
      }
      assert.equal(await tenant.used(), 0)
      assert.equal((await service.store.keys.list(tenant.organisation.id)).length, 1)
      for (const headers of ours) {
        const response = await ask(cookie, {
          method: 'PATCH',
          url: tenant.path,
          headers: { ...headers, 'content-type': 'application/json' },
          payload: '{"name":"renamed"}',
        })
        assert.equal(response.statusCode, 200, JSON.stringify(headers))
      }
    })

    test('reading by cookie is fine, however one came to it', async () => {
      const cookie = await signIn((await service.tenant()).key)
      for (const headers of foreign) {
        assert.equal((await ask(cookie, { url: '/api/v1/session', headers })).statusCode, 200)
      }
    })

    test('nobody is signed in by another site: it would have to be allowed to send the header', async () => {
      const preflight = await service.app.inject({
        method: 'OPTIONS',
        url: '/api/v1/session',
        headers: {
          origin: 'https://evil.example',
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'authorization',
        },
      })
      assert.deepEqual(
        Object.keys(preflight.headers).filter((name) => name.startsWith('access-control')),
        [],
      )
    })

    test('a session does not prolong itself', async () => {
      const cookie = await signIn((await service.tenant()).key)
      const again = await ask(cookie, { method: 'POST', url: '/api/v1/session', headers: fromOurPage })
      assertError(again, 401, 'unauthorized')
    })

    test('a key in the header works from everywhere, as before', async () => {
      const tenant = await service.tenant()
      for (const headers of foreign) {
        assert.equal((await tenant.signal({ value: 'positive' }, headers)).statusCode, 201)
      }
    })
  })

  test('does not count beside an Authorization header', async () => {
    const [tenant, other] = [await service.tenant(), await service.tenant()]
    const cookie = await signIn(tenant.key)
    const url = '/api/v1/session'
    const answer = await ask(cookie, { url, headers: other.headers })
    assert.equal(answer.json().data.organisation.id, other.organisation.id)
    assert.equal(answer.json().data.expires_at, null)
    assert.equal(answer.headers['cache-control'], undefined)
    for (const authorization of ['', 'Bearer', `Bearer ${generateSecret()}`]) {
      assertError(await ask(cookie, { url, headers: { authorization } }), 401, 'unauthorized')
    }
  })

  test('is refused like a wrong key where the cookie is none of ours, or there are two', async () => {
    const { key } = await service.tenant()
    const cookie = await signIn(key)
    const wrong = [
      '',
      'promptledger_session',
      'promptledger_session=',
      `promptledger_session=${'0'.repeat(43)}`,
      `promptledger_session=${key}`,
      `promptledger_session="${sessionTokenIn(cookie)}"`,
      cookie.slice(0, -1),
      `${cookie}x`,
      `x${cookie}`,
      cookie.toUpperCase(),
      `${cookie}; ${await signIn(key)}`,
    ]
    for (const cookie of wrong) {
      const response = await ask(cookie, '/api/v1/session')
      assertError(response, 401, 'unauthorized')
      assert.equal(response.headers['www-authenticate'], 'Bearer')
    }
    // A token is no key either.
    const authorization = `Bearer ${sessionTokenIn(cookie)}`
    assertError(await ask('', { url: '/api/v1/session', headers: { authorization } }), 401, 'unauthorized')
    for (const among of [`a=b; ${cookie}`, `${cookie};c=d`, `promptledger=1; ${cookie}; e`]) {
      assert.equal(await statusOf(among), 200, among)
    }
  })

  test('leaves nothing that it showed in a cache', async () => {
    const tenant: Tenant = await service.tenant()
    const cookie = await signIn(tenant.key)
    for (const url of [`${tenant.path}/history`, '/api/v1/nothing', '/api/v1/keys', '/api/v1/usage']) {
      const response = await ask(cookie, url)
      assert.equal(response.headers['cache-control'], 'no-store', url)
      assert.equal(response.headers['x-content-type-options'], 'nosniff', url)
    }
    assert.equal((await tenant.history()).headers['cache-control'], undefined)
  })

  // What another process did is known after 5 ms at most.
  const seen = () => new Promise((resolve) => setTimeout(resolve, 10))
})

describe('The session cookie', () => {
  test('is for TLS alone where people reach the service by it', () => {
    assert.match(sessionCookie('t', 90_500, 500, 'https://ledger.example'), /Max-Age=90; Secure$/)
    assert.match(sessionCookie('t', 90_500, 500, 'http://127.0.0.1:3000'), /Max-Age=90$/)
  })
})

describe('The origin', () => {
  test('is another where only TLS is missing', () => {
    const headers = { host: 'ledger.example', origin: 'http://ledger.example' }
    assert.equal(isSameOrigin(headers, 'https://ledger.example/promptledger'), false)
    assert.equal(isSameOrigin({ ...headers, origin: 'https://ledger.example' }, 'https://ledger.example'), true)
  })

  test('is not known where the browser says nothing, and never ours without a host', () => {
    assert.equal(isSameOrigin({ host: 'ledger.example' }, 'https://ledger.example'), null)
    assert.equal(isSameOrigin({ origin: 'null' }, ''), false)
    assert.equal(isSameOrigin({ origin: 'https://ledger.example' }, ''), false)
  })
})
