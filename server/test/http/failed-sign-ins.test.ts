import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { LightMyRequestResponse } from 'fastify'
import { failedSignIns, failedSignInsSchema } from '../../../contract/sessions.ts'
import { assertError, assertMatchesSchema } from '../../../testing/assertions.ts'
import { onEachEngine } from '../../../testing/engines.ts'
import { TestService } from '../../../testing/service.ts'
import { generateSecret } from '../../src/domain/access/api-key.ts'

const minute = 60_000
const proxy = '10.1.2.3'

onEachEngine('Failed sign-ins', (engine) => {
  const service = new TestService()
  service.trustedProxies = [proxy]
  before(() => service.open(engine))

  function signIn(key: string, address: string, through?: string): Promise<LightMyRequestResponse> {
    return service.app.inject({
      method: 'POST',
      url: '/api/v1/session',
      remoteAddress: through ?? address,
      headers: { authorization: `Bearer ${key}`, ...(through !== undefined && { 'x-forwarded-for': address }) },
    })
  }

  test('behind a trusted proxy, each client has its own limit, and the log names its network', async () => {
    for (let i = 0; i < failedSignIns; i++) assertError(await signIn('x', '198.51.100.1', proxy), 401, 'unauthorized')
    assertError(await signIn('x', '198.51.100.1', proxy), 429, 'rate_limited')
    assertError(await signIn('x', '198.51.100.2', proxy), 401, 'unauthorized')
    assert.deepEqual(loggedNetworks(), ['198.51.100.1'])
  })

  test('of 200 failed sign-ins of one address in a minute, 10 get 401 and the others 429, and a valid key still signs in', async () => {
    const tenant = await service.tenant()
    const address = '203.0.113.7'
    const statuses: number[] = []
    for (let i = 0; i < 200; i++) statuses.push((await signIn(i % 2 ? generateSecret() : 'x', address)).statusCode)
    assert.deepEqual(statuses, [...Array(failedSignIns).fill(401), ...Array(190).fill(429)])

    const rejected = await signIn(generateSecret(), address)
    assertError(rejected, 429, 'rate_limited', /^The API key is missing or not valid, and 10 others/)
    assertMatchesSchema(failedSignInsSchema, rejected)
    assert.equal(rejected.headers['retry-after'], '60')
    assert.equal((await signIn(tenant.key, address)).statusCode, 201)
    // Only signing in is limited: elsewhere the API promises 401.
    const headers = { authorization: `Bearer ${generateSecret()}` }
    const read = await service.app.inject({ url: '/api/v1/session', remoteAddress: address, headers })
    assertError(read, 401, 'unauthorized')
    assertError(await signIn('x', '203.0.113.8'), 401, 'unauthorized')
    service.now += minute
    assertError(await signIn('x', address), 401, 'unauthorized')
  })

  /** Of the one line that the log has: more are written after a minute of the machine's clock. */
  function loggedNetworks(): string[] {
    const lines = service.log.map((line) => JSON.parse(line) as { msg: string; networks: string[] })
    return lines.filter(({ msg }) => msg === 'rejected unknown API keys').flatMap(({ networks }) => networks)
  }
})
