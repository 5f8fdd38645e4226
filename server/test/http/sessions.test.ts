import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { InjectOptions } from 'fastify'
import { sessionSchema } from '../../../contract/sessions.ts'
import { assertError, assertMatchesSchema } from '../../../testing/assertions.ts'
import { runCliJson } from '../../../testing/cli.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { startServe } from '../../../testing/processes.ts'
import { queryRows } from '../../../testing/rows.ts'
import { openTestStore, useService } from '../../../testing/service.ts'
import { generateSecret, hashSecret } from '../../src/domain/access/api-key.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { cookieOf, cookieWith, sameOrigin, sessionRequests, tokenOf } from './session-requests.ts'

const hour = 3_600_000
const day = 24 * hour

onOneEngine('Sessions', (engine) => {
  const service = useService(engine)
  const { signInWith, signIn, request, statusOf, keyIdOf } = sessionRequests(service)

  /** Runs `work` at another time. */
  async function at(now: number, work: () => Promise<void>): Promise<void> {
    const before = service.now
    service.now = now
    try {
      await work()
    } finally {
      service.now = before
    }
  }

  test('signing in with a key sets an HttpOnly cookie and returns the organisation and key', async () => {
    const tenant = await service.tenant('team', 'admin')
    const response = await signInWith(tenant.key)
    assert.equal(response.statusCode, 201)
    assert.equal(response.headers['cache-control'], 'no-store')
    assert.match(
      String(response.headers['set-cookie']),
      /^__Host-promptledger_session_[0-9a-f]{8}=[0-9A-Za-z]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=2592000; Secure$/,
    )
    assert.deepEqual(response.json(), {
      data: {
        organisation: { id: tenant.organisation.id, name: 'Acme', plan: 'team' },
        key: {
          id: await keyIdOf(tenant.key),
          name: 'test',
          role: 'admin',
          prompts: null,
          hint: tenant.key.slice(-4),
          expires_at: null,
        },
        person: null,
        expires_at: new Date(service.now + 30 * day).toISOString(),
      },
    })
    const again = await request(cookieOf(response), '/api/v1/session')
    assert.equal(again.statusCode, 200)
    assert.deepEqual(again.json(), response.json())
    assertMatchesSchema(sessionSchema, again)
  })

  test('every sign-in creates a new token, whatever cookie was planted before', async () => {
    const { key } = await service.tenant()
    const planted = cookieWith(service, 'A'.repeat(43))
    const headers = { ...sameOrigin, authorization: `Bearer ${key}`, cookie: planted }
    const signInAgain = async () =>
      cookieOf(await service.app.inject({ method: 'POST', url: '/api/v1/session', headers }))
    const cookies = [await signInAgain(), await signInAgain()]
    assert.equal(new Set([planted, ...cookies]).size, 3)
    assert.deepEqual(await Promise.all([planted, ...cookies].map(statusOf)), [401, 200, 200])
  })

  test('a session has exactly the access of its key', async () => {
    const [tenant, other] = [await service.tenant('free', 'standard'), await service.tenant('free', 'standard')]
    const cookie = await signIn(tenant.key)
    assert.equal((await request(cookie, `${tenant.path}/history`)).statusCode, 200)
    assertError(await request(cookie, `${other.path}/history`), 404, 'not_found')
    assertError(await request(cookie, '/api/v1/keys'), 403, 'forbidden')
    const signal: InjectOptions = {
      method: 'POST',
      url: `${tenant.path}/signals`,
      headers: { ...sameOrigin, 'content-type': 'application/json' },
      payload: '{"value":"positive"}',
    }
    assert.equal((await request(cookie, signal)).statusCode, 201)
  })

  test('using a session updates the last-used time of its key', async () => {
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

  test('an unknown, revoked, expired or ingest key cannot sign in', async () => {
    const { organisation, key } = await service.tenant()
    const revoked = await service.key(organisation)
    await service.store.keys.revoke(await keyIdOf(revoked), service.now, operator)
    const expired = await service.key(organisation, 'admin', service.now)
    const invalid = ['', 'nonsense', `Bearer ${key}`, key.slice(0, -1), generateSecret(), revoked, expired]
    for (const key of invalid) {
      const response = await signInWith(key)
      assertError(response, 401, 'unauthorized')
      assert.equal(response.headers['set-cookie'], undefined)
    }
    assertError(await signInWith(await service.key(organisation, 'ingest')), 403, 'forbidden')
    const keyInBody = { url: '/api/v1/session', headers: { 'content-type': 'application/json' }, payload: { key } }
    assertError(await service.app.inject({ method: 'POST', ...keyInBody }), 401, 'unauthorized')
    const [row] = await queryRows(
      service.url,
      `select count(*) as n from sessions where organisation_id = ${organisation.id}`,
    )
    assert.equal(Number(row?.n), 0)
  })

  test('signing out ends the session and clears the cookie, and the key stays valid', async () => {
    const tenant = await service.tenant()
    const [cookie, otherCookie] = [await signIn(tenant.key), await signIn(tenant.key)]
    assert.equal(await statusOf(cookie), 200)
    const response = await request(cookie, { method: 'DELETE', url: '/api/v1/session', headers: sameOrigin })
    assert.deepEqual([response.statusCode, response.body], [204, ''])
    assert.match(
      String(response.headers['set-cookie']),
      /^__Host-promptledger_session_[0-9a-f]{8}=; Path=\/; .*Max-Age=0/,
    )
    assert.deepEqual([await statusOf(cookie), await statusOf(otherCookie)], [401, 200])
    assert.equal((await tenant.history()).statusCode, 200)
  })

  test('a session ends immediately when its key is revoked', async () => {
    const tenant = await service.tenant()
    const cookie = await signIn(tenant.key)
    assert.equal(await statusOf(cookie), 200)
    await service.store.keys.revoke(await keyIdOf(tenant.key), service.now, operator)
    assertError(await request(cookie, '/api/v1/session'), 401, 'unauthorized')
  })

  test('only the cookie of a session learns why the session ended', async () => {
    const tenant = await service.tenant()
    const expiring = await service.key(tenant.organisation, 'standard', service.now + hour)
    const [revoked, expired, signedOut] = [await signIn(tenant.key), await signIn(expiring), await signIn(tenant.key)]
    await request(signedOut, { method: 'DELETE', url: '/api/v1/session', headers: sameOrigin })
    await service.store.keys.revoke(await keyIdOf(tenant.key), service.now, operator)
    const errorOf = async (cookie: string, headers = {}) =>
      (await request(cookie, { url: '/api/v1/session', headers })).json().error
    await at(service.now + hour, async () => {
      assert.deepEqual(await errorOf(revoked), {
        code: 'unauthorized',
        message: 'The key of this session was revoked. Sign in with another key.',
        reason: 'key_revoked',
      })
      assert.deepEqual(await errorOf(expired), {
        code: 'unauthorized',
        message: 'The session has expired. Sign in again.',
        reason: 'expired',
      })
      const stranger = await errorOf('')
      assert.deepEqual(Object.keys(stranger), ['code', 'message'])
      assert.deepEqual(await errorOf(signedOut), stranger)
      // The keys themselves get no hint, also beside the cookie.
      for (const key of [tenant.key, expiring, generateSecret()]) {
        assert.deepEqual(await errorOf(revoked, { authorization: `Bearer ${key}` }), stranger)
      }
    })
  })

  test('a session ends when the overlap of its rotated key ends', async () => {
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
      const { data } = (await request(cookie, '/api/v1/session')).json()
      assert.equal(data.expires_at, new Date(end).toISOString())
    })
    await at(end, async () => assert.equal(await statusOf(cookie), 401))
  })

  test('a session ends when its key expires, or after 30 days', async () => {
    const { organisation, key } = await service.tenant()
    const shortLived = await signInWith(await service.key(organisation, 'standard', service.now + hour))
    assert.match(String(shortLived.headers['set-cookie']), /Max-Age=3600;/)
    assert.equal(shortLived.json().data.expires_at, new Date(service.now + hour).toISOString())
    const longLived = await signIn(key)
    const statuses = async () => [await statusOf(cookieOf(shortLived)), await statusOf(longLived)]
    await at(service.now + hour - 1, async () => assert.deepEqual(await statuses(), [200, 200]))
    await at(service.now + hour, async () => assert.deepEqual(await statuses(), [401, 200]))
    await at(service.now + 30 * day - 1, async () => assert.deepEqual(await statuses(), [401, 200]))
    await at(service.now + 30 * day, async () => assert.deepEqual(await statuses(), [401, 401]))
  })

  test('expired sessions are deleted from the database on the next sign-in', async () => {
    const { organisation, key } = await service.tenant()
    const storedHashes = async () => {
      const sql = `select token_hash from sessions where organisation_id = ${organisation.id}`
      return (await queryRows(service.url, sql)).map(({ token_hash }) => token_hash)
    }
    const first = await signIn(await service.key(organisation, 'standard', service.now + hour))
    const second = await signIn(key)
    const hashes = [first, second].map((cookie) => hashSecret(tokenOf(cookie)))
    assert.deepEqual((await storedHashes()).sort(), hashes.toSorted())
    await at(service.now + hour, async () => {
      const third = await signIn(key)
      assert.deepEqual((await storedHashes()).sort(), [hashes[1], hashSecret(tokenOf(third))].sort())
    })
  })

  /** Inserts sessions that began a minute ago. */
  async function insertSessions(organisationId: number, keyId: number, count: number): Promise<void> {
    await queryRows(
      service.url,
      `insert into sessions (token_hash, organisation_id, key_id, created_at, expires_at)
       with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})
       select '${keyId}-' || i, ${organisationId}, ${keyId}, ${service.now - 60_000}, ${service.now + day} from n`,
    )
  }

  test('a key has at most 1,000 sessions: the oldest end', async () => {
    const { organisation, key } = await service.tenant()
    const first = await signIn(key)
    assert.equal(await statusOf(first), 200)
    await at(service.now + day / 2, async () => {
      await insertSessions(organisation.id, await keyIdOf(key), 999)
      await signIn(key)
      assert.equal(await statusOf(first), 401)
      const newest = await signIn(key)
      assert.equal(await statusOf(newest), 200)
      const { pagination } = (await request(newest, '/api/v1/sessions?limit=1')).json()
      assert.equal(pagination.total_count, 901)
    })
  })

  test('neither the session token nor the key appears in the database or the log', async () => {
    const tenant = await service.tenant()
    const cookie = await signIn(tenant.key)
    await statusOf(cookie)
    await signInWith(generateSecret())
    const token = tokenOf(cookie)
    const rows = JSON.stringify(
      await queryRows(service.url, `select * from sessions where organisation_id = ${tenant.organisation.id}`),
    )
    assert.ok(rows.includes(hashSecret(token)))
    assert.ok(service.log.some((line) => line.includes('"/api/v1/session"')))
    for (const secret of [token, tenant.key]) {
      assert.ok(!rows.includes(secret))
      assert.ok(!service.log.join('').includes(secret))
    }
  })

  test('sessions start and end in every process on the same database', async (t) => {
    const tenant = await service.tenant()
    const [signedOut, active] = [await signIn(tenant.key), await signIn(tenant.key)]
    const hashes = [signedOut, active].map((cookie) => hashSecret(tokenOf(cookie))) as [string, string]
    const other = await openTestStore(service.url, () => service.now)
    t.after(() => other.close())
    for (const hash of hashes) assert.notEqual(await other.sessions.findAccess(hash), null)
    assert.deepEqual([await statusOf(signedOut), await statusOf(active)], [200, 200])
    // Ends in this process, and the other sees it.
    await request(signedOut, { method: 'DELETE', url: '/api/v1/session', headers: sameOrigin })
    await eventually(async () => {
      await other.refresh()
      assert.equal(await other.sessions.findAccess(hashes[0]), null)
    })
    assert.notEqual(await other.sessions.findAccess(hashes[1]), null)
    // The key is revoked in the other process, and this one sees it.
    await other.keys.revoke(await keyIdOf(tenant.key), service.now, operator)
    await eventually(async () => assert.equal(await statusOf(active), 401))
    assertError(await signInWith(tenant.key), 401, 'unauthorized')
  })

  test('a session works in a second running process until the CLI revokes its key', async () => {
    const tenant = await service.tenant()
    const running = await startServe({ DATABASE_URL: service.url, PROMPTLEDGER_FIRST_RUN: 'off' })
    // Sign in to the second process: it uses the machine's clock, by which a session started here may have ended.
    const url = `${running.address}/api/v1/session`
    const response = await fetch(url, { method: 'POST', headers: { authorization: `Bearer ${tenant.key}` } })
    assert.equal(response.status, 201)
    const [setCookie = ''] = response.headers.getSetCookie()
    // It is served over plain HTTP.
    assert.doesNotMatch(setCookie, /Secure/)
    const [cookie = ''] = setCookie.split(';')
    const status = async () => (await fetch(url, { headers: { cookie } })).status
    assert.equal(await status(), 200)
    await runCliJson(service.url, ['key', 'revoke', String(await keyIdOf(tenant.key))])
    await eventually(async () => assert.equal(await status(), 401))
    assert.ok(!running.output().stderr.includes(cookie))
  })
})
