import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
import { sqlite } from '../../testing/engines.ts'
import {
  ConflictError,
  ConnectionError,
  ForbiddenError,
  NotFoundError,
  Promptledger,
  PromptledgerError,
  RateLimitedError,
  UnauthorizedError,
  ValidationError,
} from '../src/index.ts'
import { useLiveService } from './live-service.ts'

async function errorOf(call: PromiseLike<unknown>): Promise<PromptledgerError> {
  try {
    await call
  } catch (error) {
    assert.ok(error instanceof PromptledgerError, inspect(error))
    return error
  }
  throw new Error('the call did not fail')
}

describe('Errors of the client', () => {
  const service = useLiveService(sqlite)
  const { proxy } = service

  test('each error code has its own class, with the status and the request ID', async () => {
    const tenant = await service.tenant('free', 'admin')
    const ledger = service.ledger(tenant)
    const prompt = tenant.prompt.publicId
    const unknownKey = new Promptledger({ apiKey: 'plk_none', baseUrl: proxy.address })
    const reader = new Promptledger({ apiKey: await service.key(tenant.organisation), baseUrl: proxy.address })
    const { id } = await ledger.keys.create()
    await ledger.keys.revoke(id)
    const expected = [
      [() => unknownKey.usage.get(), UnauthorizedError, 'UnauthorizedError', 'unauthorized', 401],
      [() => reader.keys.list(), ForbiddenError, 'ForbiddenError', 'forbidden', 403],
      [() => ledger.prompts.get('pmt_none'), NotFoundError, 'NotFoundError', 'not_found', 404],
      [() => ledger.keys.rotate(id), ConflictError, 'ConflictError', 'conflict', 409],
      [() => ledger.signals.create(prompt, {} as never), ValidationError, 'ValidationError', 'validation_error', 422],
    ] as const
    for (const [call, type, name, code, status] of expected) {
      const error = await errorOf(call())
      assert.ok(error instanceof type, inspect(error))
      assert.deepEqual([error.name, error.code, error.status], [name, code, status])
      assert.match(error.message, /\w/)
      assert.deepEqual(error.details, {})
      assert.match(String(error.requestId), /^[\w-]+$/)
    }
    const error = await errorOf(ledger.prompts.get('pmt_none', { headers: { 'X-Request-Id': 'mine' } }))
    assert.equal(error.requestId, 'mine')
  })

  test('a signal over the limit fails with the limit, the usage and the time of the reset', async () => {
    const tenant = await service.tenant()
    const ledger = service.ledger(tenant)
    await tenant.fillMonth(1_000)
    const error = await errorOf(ledger.signals.create(tenant.prompt.publicId, { value: 'positive' }))
    assert.ok(error instanceof RateLimitedError)
    assert.deepEqual([error.name, error.code, error.status], ['RateLimitedError', 'rate_limited', 429])
    assert.deepEqual([error.limit, error.used], [1_000, 1_000])
    assert.deepEqual(error.resetsAt, new Date('2026-12-01T00:00:00.000Z'))
    assert.deepEqual(error.details, { limit: 1_000, used: 1_000, resets_at: '2026-12-01T00:00:00.000Z' })
    assert.equal(proxy.requests.length, 1)
  })

  test('an internal error has the code, message and request ID that the service sent', async () => {
    const ledger = service.ledger(await service.tenant(), { maxRetries: 0 })
    const body = JSON.stringify({ error: { code: 'internal_error', message: 'The service failed.' } })
    proxy.first({ do: 'respond', status: 500, headers: { 'X-Request-Id': 'r1' }, body })
    const error = await errorOf(ledger.usage.get())
    assert.deepEqual([error.name, error.code, error.status], ['PromptledgerError', 'internal_error', 500])
    assert.deepEqual([error.message, error.requestId], ['The service failed.', 'r1'])
  })

  test('a response that did not come from Promptledger is never read as one of its errors', async () => {
    const ledger = service.ledger(await service.tenant(), { maxRetries: 0 })
    for (const [status, body] of [
      [502, '<h1>Bad Gateway</h1>'],
      [404, ''],
      [401, '{"error":"login"}'],
      [429, '{"error":{"code":429}}'],
      [403, 'null'],
    ] as const) {
      proxy.first({ do: 'respond', status, body })
      proxy.requests = []
      const error = await errorOf(ledger.usage.get())
      assert.deepEqual([error.name, error.code, error.status], ['PromptledgerError', 'unexpected_response', status])
      assert.match(error.message, /baseUrl/)
    }
    proxy.reset()
    proxy.first({ do: 'respond', status: 200, body: '<!doctype html>' })
    const error = await errorOf(ledger.usage.get())
    assert.ok(error instanceof ConnectionError)
    assert.match(error.message, /not JSON/)
  })

  test('a redirect fails the call instead of being followed', async () => {
    const tenant = await service.tenant()
    const ledger = service.ledger(tenant)
    for (const status of [301, 302, 303, 307, 308]) {
      proxy.requests = []
      proxy.first({ do: 'respond', status, headers: { Location: `${service.address}${tenant.path}/signals` } })
      const error = await errorOf(ledger.signals.create(tenant.prompt.publicId, { value: 'positive' }))
      assert.equal(error.status, status)
      assert.equal(proxy.requests.length, 1)
    }
    assert.equal(await tenant.used(), 0)
  })

  test('a failed connection says why and keeps its cause', async () => {
    const ledger = new Promptledger({ apiKey: 'plk_x', baseUrl: 'http://127.0.0.1:1', maxRetries: 0 })
    const error = await errorOf(ledger.usage.get())
    assert.ok(error instanceof ConnectionError)
    assert.deepEqual([error.name, error.code, error.status], ['ConnectionError', 'connection_failed', null])
    assert.match(error.message, /ECONNREFUSED|bad port/)
    assert.ok(error.cause instanceof TypeError)
  })

  test('invalid arguments throw before any request is sent', async () => {
    const tenant = await service.tenant()
    const ledger = service.ledger(tenant)
    const metadata: Record<string, unknown> = {}
    metadata.itself = metadata
    await assert.rejects(ledger.signals.create(tenant.prompt.publicId, { value: 'positive', metadata }), TypeError)
    await assert.rejects(ledger.usage.get({ headers: { 'X-Name': 'ā' } }), TypeError)
    await assert.rejects(async () => ledger.signals.list(tenant.prompt.publicId, { since: new Date('x') }), RangeError)
    assert.throws(() => new Promptledger({ apiKey: 'plk_x', baseUrl: 'ledger.example.com' }), TypeError)
    assert.equal(proxy.requests.length, 0)
  })
})

describe('A client', () => {
  const service = useLiveService(sqlite)
  const { proxy } = service

  test('printing a client or its errors never shows the API key', async () => {
    const tenant = await service.tenant()
    const ledger = service.ledger(tenant, { maxRetries: 0 })
    proxy.fate = () => ({ do: 'refuse' })
    const printed = [ledger, await errorOf(ledger.usage.get())]
    for (const value of printed)
      assert.doesNotMatch(inspect(value, { depth: 9, showHidden: true }), new RegExp(tenant.key))
    assert.doesNotMatch(JSON.stringify(printed), new RegExp(tenant.key))
  })

  test('the headers of a call replace those of the client, whatever their case', async () => {
    const tenant = await service.tenant()
    const ledger = service.ledger(tenant, { headers: { 'X-One': 'client', 'X-Two': 'client' } })
    await ledger.usage.get({ headers: { 'x-two': 'call', AUTHORIZATION: `Bearer ${tenant.key}` } })
    const { headers } = proxy.requests[0] ?? {}
    assert.deepEqual([headers?.['x-one'], headers?.['x-two']], ['client', 'call'])
  })

  test('a custom fetch is called as a plain function, for one client or for one call', async () => {
    const tenant = await service.tenant()
    const called: string[] = []
    function fetchAs(name: string): typeof fetch {
      return async function (this: unknown, input, init) {
        assert.equal(this, undefined)
        called.push(name)
        return fetch(input, init)
      }
    }
    const ledger = service.ledger(tenant, { fetch: fetchAs('client') })
    await ledger.usage.get()
    await ledger.usage.get({ fetch: fetchAs('call') })
    assert.deepEqual(called, ['client', 'call'])
  })

  test('the base URL may have a path and a trailing slash', async () => {
    const urls: string[] = []
    const recordUrl: typeof fetch = async (input) => {
      urls.push(String(input))
      return Response.json({ data: {} })
    }
    for (const baseUrl of ['https://example.com', 'https://example.com/', 'https://example.com/ledger/']) {
      await new Promptledger({ apiKey: 'plk_x', baseUrl, fetch: recordUrl }).usage.get()
    }
    assert.deepEqual(urls, [
      'https://example.com/api/v1/usage',
      'https://example.com/api/v1/usage',
      'https://example.com/ledger/api/v1/usage',
    ])
  })

  test('a prompt ID cannot change the path of a request', async () => {
    const tenant = await service.tenant()
    const ledger = service.ledger(tenant)
    await assert.rejects(ledger.prompts.get('x/../../usage?a=1#b'), NotFoundError)
    assert.equal(proxy.requests[0]?.url, '/api/v1/prompts/x%2F..%2F..%2Fusage%3Fa%3D1%23b')
    for (const name of ['', '.', '..']) {
      await assert.rejects(ledger.prompts.delete(name), /cannot name one/)
      await assert.rejects(ledger.signals.create(name, { value: 'positive' }), /cannot name one/)
    }
    assert.equal(proxy.requests.length, 1)
  })
})
