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
import { useLiveService } from './ledger.ts'

async function failureOf(call: PromiseLike<unknown>): Promise<PromptledgerError> {
  try {
    await call
  } catch (error) {
    assert.ok(error instanceof PromptledgerError, inspect(error))
    return error
  }
  throw new Error('It did not fail')
}

describe('A failure', () => {
  const service = useLiveService(sqlite)
  const { proxy } = service

  test('has a class of its own for each code, with the status and the id of the request', async () => {
    const tenant = await service.tenant('free', 'admin')
    const ledger = service.ledger(tenant)
    const prompt = tenant.prompt.publicId
    const stranger = new Promptledger({ apiKey: 'plk_none', baseUrl: proxy.address })
    const reader = new Promptledger({ apiKey: await service.key(tenant.organisation), baseUrl: proxy.address })
    const { id } = await ledger.keys.create()
    await ledger.keys.revoke(id)
    const expected = [
      [() => stranger.usage.get(), UnauthorizedError, 'UnauthorizedError', 'unauthorized', 401],
      [() => reader.keys.list(), ForbiddenError, 'ForbiddenError', 'forbidden', 403],
      [() => ledger.prompts.get('pmt_none'), NotFoundError, 'NotFoundError', 'not_found', 404],
      [() => ledger.keys.rotate(id), ConflictError, 'ConflictError', 'conflict', 409],
      [() => ledger.signals.create(prompt, {} as never), ValidationError, 'ValidationError', 'validation_error', 422],
    ] as const
    for (const [call, type, name, code, status] of expected) {
      const error = await failureOf(call())
      assert.ok(error instanceof type, inspect(error))
      assert.deepEqual([error.name, error.code, error.status], [name, code, status])
      assert.match(error.message, /\w/)
      assert.deepEqual(error.details, {})
      assert.match(String(error.requestId), /^[\w-]+$/)
    }
    const error = await failureOf(ledger.prompts.get('pmt_none', { headers: { 'X-Request-Id': 'mine' } }))
    assert.equal(error.requestId, 'mine')
  })

  test('of a signal over the limit tells limit, use and when it resets', async () => {
    const tenant = await service.tenant()
    const ledger = service.ledger(tenant)
    await tenant.fill(1_000)
    const error = await failureOf(ledger.signals.create(tenant.prompt.publicId, { value: 'positive' }))
    assert.ok(error instanceof RateLimitedError)
    assert.deepEqual([error.name, error.code, error.status], ['RateLimitedError', 'rate_limited', 429])
    assert.deepEqual([error.limit, error.used], [1_000, 1_000])
    assert.deepEqual(error.resetsAt, new Date('2026-12-01T00:00:00.000Z'))
    assert.deepEqual(error.details, { limit: 1_000, used: 1_000, resets_at: '2026-12-01T00:00:00.000Z' })
    assert.equal(proxy.passed.length, 1)
  })

  test('of the service itself has its code', async () => {
    const ledger = service.ledger(await service.tenant(), { maxRetries: 0 })
    const body = JSON.stringify({ error: { code: 'internal_error', message: 'Something went wrong on our side.' } })
    proxy.first({ do: 'answer', status: 500, headers: { 'X-Request-Id': 'r1' }, body })
    const error = await failureOf(ledger.usage.get())
    assert.deepEqual([error.name, error.code, error.status], ['PromptledgerError', 'internal_error', 500])
    assert.deepEqual([error.message, error.requestId], ['Something went wrong on our side.', 'r1'])
  })

  test('that something else caused is not taken for what the service says', async () => {
    const ledger = service.ledger(await service.tenant(), { maxRetries: 0 })
    for (const [status, body] of [
      [502, '<h1>Bad Gateway</h1>'],
      [404, ''],
      [401, '{"error":"login"}'],
      [429, '{"error":{"code":429}}'],
      [403, 'null'],
    ] as const) {
      proxy.first({ do: 'answer', status, body })
      proxy.passed = []
      const error = await failureOf(ledger.usage.get())
      assert.deepEqual([error.name, error.code, error.status], ['PromptledgerError', 'unexpected_answer', status])
      assert.match(error.message, /baseUrl/)
    }
    proxy.reset()
    proxy.first({ do: 'answer', status: 200, body: '<!doctype html>' })
    const error = await failureOf(ledger.usage.get())
    assert.ok(error instanceof ConnectionError)
    assert.match(error.message, /not JSON/)
  })

  test('of a redirect is one: what was sent is not where it should be', async () => {
    const tenant = await service.tenant()
    const ledger = service.ledger(tenant)
    for (const status of [301, 302, 303, 307, 308]) {
      proxy.passed = []
      proxy.first({ do: 'answer', status, headers: { Location: `${service.address}${tenant.path}/signals` } })
      const error = await failureOf(ledger.signals.create(tenant.prompt.publicId, { value: 'positive' }))
      assert.equal(error.status, status)
      assert.equal(proxy.passed.length, 1)
    }
    assert.equal(await tenant.used(), 0)
  })

  test('to connect says why, and keeps what caused it', async () => {
    const ledger = new Promptledger({ apiKey: 'plk_x', baseUrl: 'http://127.0.0.1:1', maxRetries: 0 })
    const error = await failureOf(ledger.usage.get())
    assert.ok(error instanceof ConnectionError)
    assert.deepEqual([error.name, error.code, error.status], ['ConnectionError', 'connection_failed', null])
    assert.match(error.message, /ECONNREFUSED|bad port/)
    assert.ok(error.cause instanceof TypeError)
  })

  test('of the caller is told at once and as it is', async () => {
    const tenant = await service.tenant()
    const ledger = service.ledger(tenant)
    const metadata: Record<string, unknown> = {}
    metadata.itself = metadata
    await assert.rejects(ledger.signals.create(tenant.prompt.publicId, { value: 'positive', metadata }), TypeError)
    await assert.rejects(ledger.usage.get({ headers: { 'X-Name': 'ā' } }), TypeError)
    await assert.rejects(async () => ledger.signals.list(tenant.prompt.publicId, { since: new Date('x') }), RangeError)
    assert.throws(() => new Promptledger({ apiKey: 'plk_x' }), /baseUrl/)
    assert.throws(() => new Promptledger({ apiKey: 'plk_x', baseUrl: 'ledger.example.com' }), TypeError)
    assert.equal(proxy.passed.length, 0)
  })
})

describe('A client', () => {
  const service = useLiveService(sqlite)
  const { proxy } = service

  test('shows its key to nobody who prints it or its errors', async () => {
    const tenant = await service.tenant()
    const ledger = service.ledger(tenant, { maxRetries: 0 })
    proxy.fate = () => ({ do: 'refuse' })
    const shown = [ledger, await failureOf(ledger.usage.get())]
    for (const value of shown)
      assert.doesNotMatch(inspect(value, { depth: 9, showHidden: true }), new RegExp(tenant.key))
    assert.doesNotMatch(JSON.stringify(shown), new RegExp(tenant.key))
  })

  test('sends headers of client and call, the nearer ones first, in whatever case', async () => {
    const tenant = await service.tenant()
    const ledger = service.ledger(tenant, { headers: { 'X-One': 'client', 'X-Two': 'client' } })
    await ledger.usage.get({ headers: { 'x-two': 'call', AUTHORIZATION: `Bearer ${tenant.key}` } })
    const { headers } = proxy.passed[0] ?? {}
    assert.deepEqual([headers?.['x-one'], headers?.['x-two']], ['client', 'call'])
  })

  test('works without a key where something else speaks for it', async () => {
    const tenant = await service.tenant()
    const ledger = service.ledger(tenant, { apiKey: undefined, headers: { Authorization: `Bearer ${tenant.key}` } })
    await ledger.usage.get()
    const stranger = service.ledger(tenant, { apiKey: undefined })
    await assert.rejects(stranger.usage.get(), UnauthorizedError)
    assert.equal(proxy.passed[0]?.headers.authorization, undefined)
  })

  test('takes a fetch of its own, for all calls or for one, and calls it as nobody’s method', async () => {
    const tenant = await service.tenant()
    const used: string[] = []
    function fetchAs(name: string): typeof fetch {
      return async function (this: unknown, input, init) {
        assert.equal(this, undefined)
        used.push(name)
        return fetch(input, init)
      }
    }
    const ledger = service.ledger(tenant, { fetch: fetchAs('client') })
    await ledger.usage.get()
    await ledger.usage.get({ fetch: fetchAs('call') })
    assert.deepEqual(used, ['client', 'call'])
  })

  test('finds a service below a path, with or without a slash at the end', async () => {
    const urls: string[] = []
    const seen: typeof fetch = async (input) => {
      urls.push(String(input))
      return Response.json({ data: {} })
    }
    for (const baseUrl of ['https://example.com', 'https://example.com/', 'https://example.com/ledger/']) {
      await new Promptledger({ baseUrl, fetch: seen }).usage.get()
    }
    assert.deepEqual(urls, [
      'https://example.com/api/v1/usage',
      'https://example.com/api/v1/usage',
      'https://example.com/ledger/api/v1/usage',
    ])
  })

  test('never leaves the path that it was told to take', async () => {
    const tenant = await service.tenant()
    const ledger = service.ledger(tenant)
    await assert.rejects(ledger.prompts.get('x/../../usage?a=1#b'), NotFoundError)
    assert.equal(proxy.passed[0]?.url, '/api/v1/prompts/x%2F..%2F..%2Fusage%3Fa%3D1%23b')
  })
})
