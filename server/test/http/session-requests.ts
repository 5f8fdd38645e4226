import assert from 'node:assert/strict'
import type { InjectOptions, LightMyRequestResponse } from 'fastify'
import type { TestService } from '../../../testing/service.ts'
import { hashSecret } from '../../src/domain/access/api-key.ts'

/** What a browser sends with requests from pages of the service. */
export const sameOrigin = { 'sec-fetch-site': 'same-origin' }

/** Sign-in and requests with a session cookie, as a browser sends them. */
export function sessionRequests(service: TestService) {
  function signInWith(key: string): Promise<LightMyRequestResponse> {
    return service.app.inject({
      method: 'POST',
      url: '/api/v1/session',
      headers: { ...sameOrigin, authorization: `Bearer ${key}` },
    })
  }

  async function signIn(key: string): Promise<string> {
    const response = await signInWith(key)
    assert.equal(response.statusCode, 201, response.body)
    return cookieOf(response)
  }

  function request(cookie: string, options: InjectOptions | string): Promise<LightMyRequestResponse> {
    const { headers, ...rest } = typeof options === 'string' ? { url: options } : options
    return service.app.inject({ ...rest, headers: { cookie, ...headers } })
  }

  async function statusOf(cookie: string): Promise<number> {
    return (await request(cookie, '/api/v1/session')).statusCode
  }

  async function keyIdOf(secret: string): Promise<number> {
    return (await service.store.keys.findAccess(hashSecret(secret)))?.keyId as number
  }

  return { signInWith, signIn, request, statusOf, keyIdOf }
}

/** A session cookie with this value. */
export function cookieWith({ app }: Pick<TestService, 'app'>, token: string): string {
  return app.cookies.session(token, 1, 0).split(';', 1)[0] as string
}

/** The session token in a cookie. */
export function tokenOf(cookie: string): string {
  return cookie.slice(cookie.indexOf('=') + 1)
}

/** The cookie of a response as a browser sends it back. */
export function cookieOf(response: LightMyRequestResponse): string {
  const [cookie = ''] = String(response.headers['set-cookie']).split(';')
  return cookie
}
