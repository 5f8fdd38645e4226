import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { InjectOptions, LightMyRequestResponse } from 'fastify'
import { voteSchema, votesPerAddress, votesPerToken } from '../../../contract/votes.ts'
import { assertError, assertMatchesSchema } from '../../../testing/assertions.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { allRows } from '../../../testing/rows.ts'
import { openTestStore, type Tenant, useService } from '../../../testing/service.ts'
import { createSigningKey, type Payload, payloadFor, signPayload } from '../../../testing/vote-tokens.ts'
import { rotateKey } from '../../src/domain/access/api-key.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { voteBodyLimit } from '../../src/http/votes/routes.ts'

const refreshDeadline = { timeoutMs: 1_000, intervalMs: 5 }
const second = 1_000
const minute = 60 * second
const day = 24 * 60 * minute

onOneEngine('Votes from pages', (engine) => {
  const service = useService(engine)
  let addresses = 0

  /** Each call comes from an address of its own, unless the test names one. */
  function send(body: unknown, options: InjectOptions = {}): Promise<LightMyRequestResponse> {
    addresses++
    return service.app.inject({
      method: 'POST',
      url: '/api/v1/votes',
      remoteAddress: `10.${addresses >> 16}.${(addresses >> 8) & 255}.${addresses & 255}`,
      headers: { 'content-type': 'application/json' },
      payload: typeof body === 'string' ? body : JSON.stringify(body),
      ...options,
    })
  }

  async function page(members: Partial<Payload> = {}) {
    const tenant = await service.tenant('free', 'admin')
    const { key, secret } = await createSigningKey(service, tenant)
    const sign = (other: Partial<Payload> = {}) =>
      signPayload(secret, payloadFor(secret, tenant, service.now, { ...members, ...other }))
    return { tenant, key, secret, sign, token: sign() }
  }

  async function stored({ headers, path }: Tenant): Promise<Record<string, unknown>[]> {
    return (await service.app.inject({ url: `${path}/signals`, headers })).json().data
  }

  test('a vote is stored as a signal with the version, subject and hashed voter of its token', async () => {
    const { tenant, token } = await page({ v: '8f3a1c5', u: 'user-42' })
    const response = await send({ token, value: 'positive', comment: 'Short <b>and</b> clear.' })
    assert.equal(response.statusCode, 200, response.body)
    assertMatchesSchema(voteSchema, response)
    assert.deepEqual(response.json(), { data: { value: 'positive', comment: 'Short <b>and</b> clear.' } })
    const [signal, ...others] = await stored(tenant)
    assert.equal(others.length, 0)
    assert.deepEqual(
      [signal?.value, signal?.version, signal?.subject, signal?.comment, signal?.metadata],
      ['positive', '8f3a1c5', 'answer-1', 'Short <b>and</b> clear.', null],
    )
    assert.equal(signal?.voter, await service.voters.hash(tenant.organisation.id, 'user-42'))
  })

  test('a vote can be changed and withdrawn, counts once, and repeating it changes nothing', async () => {
    const { tenant, token } = await page()
    for (const value of [null, 'positive', 'positive', 'negative', null, null, 'negative'] as const) {
      const response = await send({ token, value, comment: 'So' })
      assert.deepEqual(response.json(), { data: { value, comment: value === null ? null : 'So' } })
      assert.deepEqual(
        (await stored(tenant)).map((signal) => signal.value),
        value === null ? [] : [value],
      )
    }
    assert.equal(await service.store.signals.usedInMonth(tenant.organisation.id, service.now), 1)
  })

  test('every token that is not valid gets the same 401, and nothing is stored or logged', async () => {
    const { tenant, secret, token, sign } = await page({ s: 'hidden-subject' })
    const other = await page()
    const unsigned = token.slice(0, token.indexOf('.'))
    const payload = payloadFor(secret, tenant, service.now)
    const now = service.now / second
    const deleted = await service.prompt(tenant.organisation, 'deleted')
    await service.store.prompts.delete(deleted, service.now, operator)
    const limited = await createSigningKey(service, tenant, { prompts: 'other/**' })
    const expired = await createSigningKey(service, tenant, { expiresAt: service.now })
    const tokens: unknown[] = [
      undefined,
      null,
      5,
      ['x'],
      '',
      'plt_',
      unsigned,
      `${unsigned}.`,
      `${token}.`,
      `${token} `,
      token.toUpperCase(),
      token.slice(0, -1),
      `${unsigned}.${other.token.split('.')[1]}`,
      `${other.token.split('.')[0]}.${token.split('.')[1]}`,
      signPayload('', payload),
      signPayload(other.secret, payload),
      sign({ k: other.secret.split('_')[1] as string }),
      sign({ k: '0'.repeat(16) }),
      // Replayed for a prompt of another organisation, and one that is unknown, deleted or hidden from the key.
      sign({ p: other.tenant.prompt.publicId }),
      sign({ p: `pmt_${'0'.repeat(24)}` }),
      sign({ p: deleted.publicId }),
      sign({ p: tenant.prompt.name }),
      signPayload(limited.secret, payloadFor(limited.secret, tenant, service.now)),
      signPayload(expired.secret, payloadFor(expired.secret, tenant, service.now)),
      // Expired, or valid for too long.
      sign({ e: now }),
      sign({ e: now - 1 }),
      sign({ e: now + 8 * 24 * 60 * 60 }),
      sign({ e: now + 0.5 }),
      sign({ e: Number.MAX_SAFE_INTEGER }),
      sign({ e: String(now + 60) as never }),
      sign({ s: '' }),
      sign({ s: 'x'.repeat(256) }),
      sign({ s: 'a\nb' }),
      sign({ s: 5 as never }),
      sign({ u: '' }),
      sign({ u: null as never }),
      sign({ v: 'latest' }),
      sign({ v: 0 }),
      signPayload(secret, { ...payload, role: 'admin' }),
      signPayload(secret, `{"__proto__":1,${JSON.stringify(payload).slice(1)}`),
      signPayload(secret, [payload]),
      signPayload(secret, 'null'),
      signPayload(secret, ''),
      signPayload(secret, { ...payload, s: '\ud800' }),
      // Over 1 KiB, with a subject and a voter that are not too long.
      sign({ s: '世'.repeat(255), u: '世'.repeat(255) }),
    ]
    const state = await allRows(service.url)
    service.log.length = 0
    const bodies = new Set<string>()
    for (const token of tokens) {
      const response = await send({ token, value: 'positive', comment: 'hidden comment' })
      assert.equal(response.statusCode, 401, `${JSON.stringify(token)}: ${response.body}`)
      bodies.add(response.body)
    }
    assert.equal(bodies.size, 1)
    assert.equal(JSON.parse([...bodies][0] as string).error.code, 'unauthorized')
    assert.deepEqual(await allRows(service.url), state)
    assert.equal((await send({ token, value: 'positive', comment: 'hidden comment' })).statusCode, 200)
    assert.doesNotMatch(service.log.join('\n'), /hidden|plt_|pls_|10\.0\./)
  })

  test('a token is valid until the second it expires, and at most seven days ahead', async () => {
    const { sign } = await page()
    const start = service.now
    const token = sign({ e: start / second + 10 })
    assert.equal((await send({ token: sign({ e: (start + 7 * day) / second }), value: 'positive' })).statusCode, 200)
    try {
      service.now = start + 10 * second - 1
      assert.equal((await send({ token, value: 'positive' })).statusCode, 200)
      service.now++
      assertError(await send({ token, value: null }), 401, 'unauthorized')
    } finally {
      service.now = start
    }
  })

  test('a signature is accepted in one spelling only, though base64url has four', async () => {
    const { token } = await page()
    const last = token.at(-1) as string
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    for (const other of [...alphabet].filter((character) => character !== last)) {
      assertError(await send({ token: token.slice(0, -1) + other, value: 'positive' }), 401, 'unauthorized')
    }
  })

  test('after a rotation, tokens of both keys are valid until the overlap ends', async () => {
    const { tenant, key, token } = await page()
    const { store, syncContext } = service
    const start = service.now
    const rotated = await rotateKey(store.keys, key, minute, start, operator, syncContext.vault)
    const newToken = signPayload(rotated.secret, payloadFor(rotated.secret, tenant, start))
    try {
      service.now = start + minute - 1
      assert.equal((await send({ token, value: 'positive' })).statusCode, 200)
      assert.equal((await send({ token: newToken, value: 'positive' })).statusCode, 200)
      service.now++
      assertError(await send({ token, value: 'negative' }), 401, 'unauthorized')
      assert.equal((await send({ token: newToken, value: 'negative' })).statusCode, 200)
    } finally {
      service.now = start
    }
  })

  test('tokens of a revoked key are rejected from the next vote on, also if another process revoked it', async () => {
    const first = await page()
    assert.equal((await send({ token: first.token, value: 'positive' })).statusCode, 200)
    await service.store.keys.revoke(first.key.id, service.now, operator)
    assertError(await send({ token: first.token, value: 'negative' }), 401, 'unauthorized')

    const second = await page()
    assert.equal((await send({ token: second.token, value: 'positive' })).statusCode, 200)
    const other = await openTestStore(service.url)
    await other.keys.revoke(second.key.id, service.now, operator)
    // On PostgreSQL, changes by other processes may take 5 ms longer to show.
    await eventually(async () => {
      assertError(await send({ token: second.token, value: 'negative' }), 401, 'unauthorized')
    }, refreshDeadline)
  })

  test('the database is asked for a signing key once, not for each vote', async () => {
    const { sign } = await page()
    const misses = () => service.store.stats().caches.signing_keys?.misses as number
    await send({ token: sign(), value: 'positive' })
    const before = misses()
    for (const s of ['a', 'b', 'c']) {
      assert.equal((await send({ token: sign({ s }), value: 'positive' })).statusCode, 200)
    }
    assert.equal(misses(), before)
  })

  test('the body is JSON, as application/json or text/plain, and everything else is rejected with the reason', async () => {
    const { tenant, token } = await page()
    const vote = JSON.stringify({ token, value: 'positive' })
    for (const type of ['text/plain;charset=UTF-8', 'text/plain', 'application/json; charset=utf-8']) {
      assert.equal((await send(vote, { headers: { 'content-type': type } })).statusCode, 200, type)
    }
    const state = await allRows(service.url)
    const invalid: [string | Buffer, RegExp, string?][] = [
      ['', /^The body is empty/],
      [vote.slice(0, -1), /^The body is not valid JSON/],
      [`[${vote}]`, /^The body must be a JSON object/],
      ['null', /^The body must be a JSON object/],
      [Buffer.from([0x7b, 0xff, 0x7d]), /^The body is not valid UTF-8/],
      [vote, /^The header Content-Type must be application\/json or text\/plain/, 'application/x-www-form-urlencoded'],
      [vote, /^The header Content-Type must be/, 'multipart/form-data; boundary=x'],
      [vote, /^The header Content-Type must be/, 'text/html'],
      [vote + ' '.repeat(voteBodyLimit), /^The body is too large/],
      [JSON.stringify({ token }), /^value is required/],
      [JSON.stringify({ token, value: 'Positive' }), /^value must be "positive" or "negative"/],
      [JSON.stringify({ token, value: true }), /^value must be/],
      [JSON.stringify({ token, value: 'positive', comment: 5 }), /^comment must be/],
      [
        JSON.stringify({ token, value: 'positive', comment: 'x'.repeat(2_001) }),
        /^comment must NOT have more than 2000/,
      ],
      [JSON.stringify({ token, value: 'positive', comment: 'a\0b' }), /^comment must not contain NUL/],
      [`{"token":"${token}","value":"positive","comment":"\\ud800"}`, /^comment must be valid Unicode/],
    ]
    for (const [payload, message, type = 'text/plain'] of invalid) {
      const response = await send('', { payload, headers: { 'content-type': type } })
      assertError(response, 422, 'validation_error', message)
      assert.equal(response.headers['access-control-allow-origin'], '*')
    }
    assertError(await send('', { payload: vote, headers: {} }), 422, 'validation_error', /Content-Type/)
    assert.deepEqual(await allRows(service.url), state)
    assert.equal((await stored(tenant)).length, 1)
  })

  test('pages of every origin may vote and read the response, on this path only', async () => {
    const { tenant, token } = await page()
    const origin = 'https://shop.example'
    const ofCors = ({ headers }: LightMyRequestResponse) =>
      Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('access-control-')))
    const preflight = await service.app.inject({
      method: 'OPTIONS',
      url: '/api/v1/votes',
      headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' },
    })
    assert.deepEqual([preflight.statusCode, preflight.body], [204, ''])
    const shared = {
      'access-control-allow-origin': '*',
      'access-control-expose-headers': 'Retry-After, X-Request-Id',
    }
    assert.deepEqual(ofCors(preflight), {
      ...shared,
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'Content-Type',
      'access-control-max-age': '86400',
    })
    const headers = { origin, 'content-type': 'text/plain' }
    assert.deepEqual(ofCors(await send({ token, value: 'positive' }, { headers })), shared)
    assert.deepEqual(ofCors(await send({ token: 'x', value: 'positive' }, { headers })), shared)
    for (const [method, url] of [
      ['OPTIONS', `${tenant.path}/signals`],
      ['POST', `${tenant.path}/signals`],
      ['GET', '/api/v1/votes'],
      ['GET', '/api/v1/prompts'],
      ['GET', '/healthz'],
      ['GET', '/openapi.json'],
    ] as const) {
      const response = await service.app.inject({ method, url, headers: { origin, ...tenant.headers } })
      assert.deepEqual(ofCors(response), {}, `${method} ${url}`)
    }
  })

  test('cookies and Authorization are ignored: they neither replace a token nor spoil one', async () => {
    const { tenant, token } = await page()
    const signedIn = await service.app.inject({ method: 'POST', url: '/api/v1/session', headers: tenant.headers })
    const [cookie = ''] = String(signedIn.headers['set-cookie']).split(';')
    const type = { 'content-type': 'text/plain' }
    for (const headers of [tenant.headers, { cookie }]) {
      const vote = { value: 'positive', token: tenant.key }
      assertError(await send(vote, { headers: { ...type, ...headers } }), 401, 'unauthorized')
    }
    for (const headers of [{ authorization: 'Bearer nonsense' }, { cookie, origin: 'https://evil.example' }]) {
      const response = await send({ token, value: 'positive' }, { headers: { ...type, ...headers } })
      assert.equal(response.statusCode, 200)
      assert.equal(response.headers['set-cookie'], undefined)
    }
  })

  test('one subject takes 30 votes a minute, whatever token and address they come with', async () => {
    const { tenant, secret, sign } = await page()
    const start = service.now
    try {
      for (let sent = 0; sent < votesPerToken; sent++) {
        const token = sign({ e: start / second + 100 + sent })
        assert.equal((await send({ token, value: sent % 2 ? 'positive' : 'negative' })).statusCode, 200)
      }
      const another = await createSigningKey(service, tenant)
      const fresh = signPayload(another.secret, payloadFor(another.secret, tenant, start))
      for (const token of [sign(), fresh]) {
        const response = await send({ token, value: null })
        assertError(response, 429, 'rate_limited', /^At most 30 votes per minute are accepted from one token/)
        const { limit, used, resets_at: resetsAt } = response.json().error
        assert.deepEqual([limit, used, resetsAt], [30, 30, new Date(start + minute).toISOString()])
        assert.equal(response.headers['retry-after'], '60')
      }
      assert.equal((await stored(tenant)).length, 1)
      assert.equal((await send({ token: sign({ s: 'another' }), value: 'positive' })).statusCode, 200)
      service.now = start + minute
      assert.equal(
        (await send({ token: signPayload(secret, payloadFor(secret, tenant, start)), value: null })).statusCode,
        200,
      )
    } finally {
      service.now = start
    }
  })

  test('one address sends 300 votes a minute, invalid ones included, and other addresses are not affected', async () => {
    const { sign } = await page()
    const from = (remoteAddress: string, token: string, headers = {}) =>
      send({ token, value: 'positive' }, { remoteAddress, headers: { 'content-type': 'text/plain', ...headers } })
    // All in one network of IPv6, and with a header that only a trusted proxy may send.
    const rejected = Array.from({ length: votesPerAddress }, (_, i) =>
      from(`2001:db8:1:2::${i.toString(16)}`, 'plt_x', { 'x-forwarded-for': `192.0.2.${i % 255}` }),
    )
    for (const { statusCode } of await Promise.all(rejected)) assert.equal(statusCode, 401)
    const response = await from('2001:db8:1:2:ffff::1', sign(), { 'x-forwarded-for': '192.0.2.1' })
    assertError(response, 429, 'rate_limited', /^At most 300 votes per minute are accepted from one address/)
    assert.ok(service.log.some((line) => line.includes('TRUSTED_PROXIES')))
    assert.equal((await from('2001:db8:1:3::1', sign())).statusCode, 200)
  })

  test('a vote beyond the monthly limit gets the error of a signal, and a change still succeeds', async () => {
    const { tenant, sign } = await page()
    await send({ token: sign(), value: 'positive' })
    await tenant.fillMonth(999)
    const response = await send({ token: sign({ s: 'another' }), value: 'positive' })
    const signal = await tenant.signal({ value: 'positive' })
    assert.deepEqual([response.statusCode, response.json()], [429, signal.json()])
    assert.equal((await send({ token: sign(), value: 'negative' })).statusCode, 200)
  })

  test('a response tells nothing about the organisation, in its body or its headers', async () => {
    const { token } = await page()
    const response = await send({ token, value: 'positive' })
    assert.deepEqual(Object.keys(response.json()), ['data'])
    assert.deepEqual(Object.keys(response.json().data), ['value', 'comment'])
    assert.deepEqual(
      Object.keys(response.headers).filter((name) => /limit|cookie|organisation/i.test(name)),
      [],
    )
  })

  test('a vote is a use of its signing key', async () => {
    const { tenant, key, token } = await page()
    await send({ token, value: 'positive' })
    await service.lastUsed.flush()
    const keys = await service.store.keys.list(tenant.organisation.id)
    assert.equal(keys.find(({ id }) => id === key.id)?.lastUsedAt, service.now)
  })
})
