import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { InjectOptions } from 'fastify'
import { assertError } from '../../../testing/assertions.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { useService } from '../../../testing/service.ts'
import { generateSecret } from '../../src/domain/access/api-key.ts'
import { isSameOrigin } from '../../src/http/same-origin.ts'
import { createCookies } from '../../src/http/sessions/cookie.ts'
import { sameOrigin, sessionRequests, tokenOf } from './session-requests.ts'

onOneEngine('Requests with a session cookie', (engine) => {
  const service = useService(engine)
  const { signIn, request, statusOf } = sessionRequests(service)

  describe('Cross-origin requests with a session', () => {
    const crossOrigin: Record<string, string>[] = [
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
    const fromOwnPages: Record<string, string>[] = [
      sameOrigin,
      { origin: 'https://ledger.example' },
      { origin: 'http://10.0.0.7:3000', host: '10.0.0.7:3000' },
      { origin: 'https://inside.example', host: 'Inside.example' },
      { 'sec-fetch-site': 'same-origin', origin: 'https://behind-a-proxy.example' },
    ]

    test('a change with a cookie is rejected unless it comes from a page of the service', async () => {
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
      for (const headers of crossOrigin) {
        for (const attempt of attempts) {
          const type = attempt.payload === undefined ? {} : { 'content-type': 'application/json' }
          const response = await request(cookie, { ...attempt, headers: { ...headers, ...type } })
          assertError(response, 403, 'forbidden')
          assert.match(response.json().error.message, /only make changes from pages of this service \(same origin\)/)
        }
      }
      assert.equal(await tenant.used(), 0)
      assert.equal((await service.store.keys.list(tenant.organisation.id)).length, 1)
      for (const headers of fromOwnPages) {
        const response = await request(cookie, {
          method: 'PATCH',
          url: tenant.path,
          headers: { ...headers, 'content-type': 'application/json' },
          payload: '{"name":"renamed"}',
        })
        assert.equal(response.statusCode, 200, JSON.stringify(headers))
      }
    })

    test('reading with a cookie is allowed from any origin', async () => {
      const cookie = await signIn((await service.tenant()).key)
      for (const headers of crossOrigin) {
        assert.equal((await request(cookie, { url: '/api/v1/session', headers })).statusCode, 200)
      }
    })

    test('another site cannot sign a visitor in, because no preflight allows the Authorization header', async () => {
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

    test('a session cannot extend itself', async () => {
      const cookie = await signIn((await service.tenant()).key)
      const again = await request(cookie, { method: 'POST', url: '/api/v1/session', headers: sameOrigin })
      assertError(again, 401, 'unauthorized')
    })

    test('a key in the Authorization header works from any origin', async () => {
      const tenant = await service.tenant()
      for (const headers of crossOrigin) {
        assert.equal((await tenant.signal({ value: 'positive' }, headers)).statusCode, 201)
      }
    })
  })

  test('a session cookie is ignored next to an Authorization header', async () => {
    const [tenant, other] = [await service.tenant(), await service.tenant()]
    const cookie = await signIn(tenant.key)
    const url = '/api/v1/session'
    const response = await request(cookie, { url, headers: other.headers })
    assert.equal(response.json().data.organisation.id, other.organisation.id)
    assert.equal(response.json().data.expires_at, null)
    assert.equal(response.headers['cache-control'], undefined)
    for (const authorization of ['', 'Bearer', `Bearer ${generateSecret()}`]) {
      assertError(await request(cookie, { url, headers: { authorization } }), 401, 'unauthorized')
    }
  })

  test('an invalid or duplicated session cookie gets the same 401 as an invalid key', async () => {
    const { key } = await service.tenant()
    const cookie = await signIn(key)
    const name = cookie.slice(0, cookie.indexOf('='))
    const invalid = [
      '',
      name,
      `${name}=`,
      `${name}=${'0'.repeat(43)}`,
      `${name}=${key}`,
      // Without the prefix, a page of a neighbouring host could have set it.
      cookie.replace('__Host-', ''),
      `${name}="${tokenOf(cookie)}"`,
      cookie.slice(0, -1),
      `${cookie}x`,
      `x${cookie}`,
      cookie.toUpperCase(),
      `${cookie}; ${await signIn(key)}`,
    ]
    for (const cookie of invalid) {
      const response = await request(cookie, '/api/v1/session')
      assertError(response, 401, 'unauthorized')
      assert.equal(response.headers['www-authenticate'], 'Bearer')
    }
    // A session token is not an API key.
    const authorization = `Bearer ${tokenOf(cookie)}`
    assertError(await request('', { url: '/api/v1/session', headers: { authorization } }), 401, 'unauthorized')
    for (const cookies of [`a=b; ${cookie}`, `${cookie};c=d`, `promptledger=1; ${cookie}; e`]) {
      assert.equal(await statusOf(cookies), 200, cookies)
    }
  })

  test('responses to a session are not cached', async () => {
    const tenant = await service.tenant()
    const cookie = await signIn(tenant.key)
    for (const url of [`${tenant.path}/history`, '/api/v1/nothing', '/api/v1/keys', '/api/v1/usage']) {
      const response = await request(cookie, url)
      assert.equal(response.headers['cache-control'], 'no-store', url)
    }
    assert.equal((await tenant.history()).headers['cache-control'], undefined)
  })
})

describe('The cookies', () => {
  const [https, http] = ['https://ledger.example', 'http://127.0.0.1:3000']
  const cookiesAt = (publicUrl: string, databaseCreatedAt = 1) => createCookies(databaseCreatedAt, () => publicUrl)
  const allAt = (...at: Parameters<typeof cookiesAt>) => {
    const cookies = cookiesAt(...at)
    return [cookies.session('t', 90_500, 500), cookies.clearedSession(), cookies.pendingSignIn('t', 90)]
  }
  const nameOf = (cookie: string) => cookie.slice(0, cookie.indexOf('='))

  test('cookies are Secure if PUBLIC_URL is https', () => {
    for (const cookie of allAt(https)) assert.match(cookie, /Max-Age=\d+; Secure$/)
    for (const cookie of allAt(http)) assert.match(cookie, /Max-Age=\d+$/)
  })

  test('cookies belong to one host if PUBLIC_URL is https: no other host can set them', () => {
    for (const cookie of allAt(https)) {
      assert.match(cookie, /^__Host-promptledger_\w+=/)
      assert.match(cookie, /; Path=\/;/)
      assert.match(cookie, /; Secure$/)
      assert.doesNotMatch(cookie, /Domain/i)
    }
    for (const cookie of allAt(http)) assert.match(cookie, /^promptledger_\w+=/)
    const [mine, plain] = [cookiesAt(https), cookiesAt(http)]
    const [secure, insecure] = [mine, plain].map((cookies) => cookies.session('t', 1, 0))
    assert.equal(mine.sessionTokenIn(secure), 't')
    assert.equal(mine.sessionTokenIn(insecure), null)
    assert.equal(plain.sessionTokenIn(insecure), 't')
    assert.equal(plain.sessionTokenIn(secure), null)
  })

  test('two installations on one host have cookies of different names, and two processes of one installation of the same', () => {
    const names = allAt(http).map(nameOf)
    assert.deepEqual(allAt(http).map(nameOf), names)
    for (const name of allAt(http, 2).map(nameOf)) assert.ok(!names.includes(name), name)
  })
})

describe('The origin check', () => {
  test('http and https are different origins', () => {
    const headers = { host: 'ledger.example', origin: 'http://ledger.example' }
    assert.equal(isSameOrigin(headers, 'https://ledger.example'), false)
    assert.equal(isSameOrigin({ ...headers, origin: 'https://ledger.example' }, 'https://ledger.example'), true)
  })

  test('the origin is unknown if the browser sends none, and never matches without a host', () => {
    assert.equal(isSameOrigin({ host: 'ledger.example' }, 'https://ledger.example'), null)
    assert.equal(isSameOrigin({ origin: 'null' }, ''), false)
    assert.equal(isSameOrigin({ origin: 'https://ledger.example' }, ''), false)
  })
})
