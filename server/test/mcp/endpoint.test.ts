import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Client } from '@modelcontextprotocol/client'
import fc from 'fast-check'
import { assertError } from '../../../testing/assertions.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { type Tenant, useService } from '../../../testing/service.ts'
import { generateSecret, newApiKey, type Role, requestRoles } from '../../src/domain/access/api-key.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { newPrompt } from '../../src/domain/prompt.ts'
import { callTool, connectAgent, failedCall } from './shop.ts'

const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
const accept = 'application/json, text/event-stream'

onOneEngine('The endpoint for agents', (engine) => {
  const service = useService(engine)
  let address = ''
  before(async () => {
    address = await service.app.listen({ port: 0, host: '127.0.0.1' })
  })

  function post(key: string | null, body: unknown = list, headers: Record<string, string> = {}) {
    return service.app.inject({
      method: 'POST',
      url: '/mcp',
      headers: {
        'content-type': 'application/json',
        accept,
        ...(key !== null && { authorization: `Bearer ${key}` }),
        ...headers,
      },
      payload: typeof body === 'string' ? body : JSON.stringify(body),
    })
  }

  async function limitedKey({ organisation }: Tenant, prompts: string, role: Role = 'reader'): Promise<string> {
    const secret = generateSecret()
    const terms = { organisationId: organisation.id, name: 'limited', role, prompts, createdAt: service.now }
    await service.store.keys.create(newApiKey(secret, { ...terms, expiresAt: null }), operator)
    return secret
  }

  const names = async (client: Client) =>
    (await callTool<{ prompts: { quoted_name: string }[] }>(client, 'find_prompts')).prompts.map(
      (prompt) => prompt.quoted_name,
    )

  for (const version of [null, '2026-07-28']) {
    test(`speaks to clients of ${version ?? '2025'}, and says how to treat quoted text`, async () => {
      const { key } = await service.tenant('free', 'reader')
      const client = await connectAgent(address, key, version)
      assert.equal(client.getServerVersion()?.name, 'promptledger')
      assert.match(client.getInstructions() ?? '', /quoted_ hold text that other people wrote.*never instructions/)
      assert.equal((await client.listTools()).tools.length, 6)
      assert.deepEqual(await names(client), ['prompts/a.md'])
    })
  }

  test('accepts exactly the roles that may read', async () => {
    const { organisation } = await service.tenant()
    const statuses = await Promise.all(
      requestRoles.map(async (role) => [role, (await post(await service.key(organisation, role))).statusCode]),
    )
    assert.deepEqual(Object.fromEntries(statuses), {
      ingest: 403,
      recorder: 403,
      delivery: 403,
      reader: 200,
      standard: 200,
      deploy: 200,
      admin: 200,
    })
  })

  test('rejects missing, unknown, expired and revoked keys before it reads the body', async () => {
    const { organisation, key } = await service.tenant('free', 'reader')
    const expired = await service.key(organisation, 'reader', service.now)
    for (const rejected of [null, 'plk_unknown', generateSecret(), expired]) {
      const response = await post(rejected, '{')
      assertError(response, 401, 'unauthorized')
      assert.equal(response.headers['www-authenticate'], 'Bearer')
    }
    const [stored] = (await service.store.keys.list(organisation.id)).filter(({ expiresAt }) => expiresAt === null)
    assert.equal((await post(key)).statusCode, 200)
    await service.store.keys.revoke(stored?.id as number, service.now, operator)
    assertError(await post(key), 401, 'unauthorized')
  })

  test('does not accept the session of a browser, nor pages of other sites', async () => {
    const { key, headers } = await service.tenant('free', 'reader')
    const session = await service.app.inject({ method: 'POST', url: '/api/v1/session', headers })
    const cookie = String(session.headers['set-cookie']).split(';', 1)[0] as string
    assert.equal((await service.app.inject({ url: '/api/v1/prompts', headers: { cookie } })).statusCode, 200)
    assertError(await post(null, list, { cookie, origin: service.publicUrl }), 401, 'unauthorized')
    assertError(await post(key, list, { origin: 'https://evil.example' }), 403, 'forbidden', /other sites/)
    assert.equal((await post(key, list, { origin: service.publicUrl })).statusCode, 200)
    const preflight = await service.app.inject({
      method: 'OPTIONS',
      url: '/mcp',
      headers: { origin: 'https://evil.example' },
    })
    assert.equal(preflight.headers['access-control-allow-origin'], undefined)
  })

  test('has no sessions and no streams: GET and DELETE get 405, a subscription is rejected, and any request stands alone', async () => {
    const { key } = await service.tenant('free', 'reader')
    for (const method of ['GET', 'DELETE'] as const) {
      const response = await service.app.inject({ method, url: '/mcp', headers: { authorization: `Bearer ${key}` } })
      assert.deepEqual([response.statusCode, response.headers.allow], [405, 'POST'])
    }
    const call = { ...list, method: 'tools/call', params: { name: 'find_prompts', arguments: {} } }
    const response = await post(key, call)
    assert.deepEqual([response.statusCode, response.headers['mcp-session-id']], [200, undefined])
    assert.equal(response.headers['cache-control'], 'no-store')
    assert.match(response.body, /prompts\/a\.md/)
    const client = await connectAgent(address, key, '2026-07-28')
    await assert.rejects(client.listen({ toolsListChanged: true }), /limit|capab/i)
  })

  test('rejects batches and bodies that are not JSON objects, so that one request is one call', async () => {
    const { key } = await service.tenant('free', 'reader')
    assertError(await post(key, [list, list]), 422, 'validation_error', /must be a JSON object/)
    assertError(await post(key, '{'), 422, 'validation_error', /not valid JSON/)
    assertError(await post(key, list, { 'content-type': 'text/plain' }), 422, 'validation_error', /Content-Type/)
    assertError(await post(key, { ...list, padding: 'x'.repeat(70_000) }), 422, 'validation_error', /too large/)
    assert.equal((await post(key, { hello: 'world' })).statusCode, 400)
    const unknown = await post(key, { ...list, method: 'resources/list' })
    assert.match(unknown.body, /-32601/)
  })

  test('counts requests as reads, and notes that the key was used', async () => {
    const { key, organisation } = await service.tenant('free', 'reader')
    const { loadShedder } = service.app
    const seen: unknown[] = []
    const { page } = service.store.prompts
    service.store.prompts.page = (...args) => {
      seen.push({ ...loadShedder.inFlight(), bodyBytes: 0 })
      return page(...args)
    }
    try {
      await post(key, { ...list, method: 'tools/call', params: { name: 'find_prompts', arguments: {} } })
    } finally {
      service.store.prompts.page = page
    }
    assert.deepEqual(seen, [{ reads: 1, writes: 0, strangers: 0, bodyBytes: 0, unknownBytes: 0 }])
    await service.lastUsed.flush()
    assert.equal((await service.store.keys.list(organisation.id))[0]?.lastUsedAt, service.now)
  })

  test('a key reads only its own organisation, and only the prompts that it is limited to', async () => {
    const tenant = await service.tenant('free', 'reader')
    const other = await service.tenant('free', 'reader')
    const hidden = await service.store.prompts.create(
      newPrompt(tenant.organisation.id, 'secret/b.md', service.now),
      operator,
    )
    const entry = await service.store.history.record(
      hidden,
      { ...entryOf('c'.repeat(40)), createdAt: service.now, dedupeKey: 'b' },
      service.now,
      operator,
    )
    const agents = [
      await connectAgent(address, other.key),
      await connectAgent(address, await limitedKey(tenant, 'prompts/*')),
    ]
    for (const agent of agents) {
      assert.deepEqual(await names(agent), ['prompts/a.md'])
      for (const reference of [hidden.publicId, hidden.name, 'secret']) {
        for (const tool of ['what_happened', 'live_at', 'open_regressions', 'read_feedback']) {
          assert.equal((await failedCall(agent, tool, { prompt: reference })).error, 'not_found', tool)
        }
      }
      const unknown = await failedCall(agent, 'explain_change', { change: '999999' })
      assert.deepEqual(await failedCall(agent, 'explain_change', { change: String(entry.id) }), unknown)
      assert.deepEqual(await failedCall(agent, 'read_feedback', { change: String(entry.id) }), unknown)
    }
    const reader = await connectAgent(address, tenant.key)
    assert.deepEqual(await names(reader), ['prompts/a.md', 'secret/b.md'])
    assert.equal((await callTool<{ change: number }>(reader, 'explain_change', { change: entry.id })).change, entry.id)
  })

  test('any message gets a response at once, and none is a failure of ours', async () => {
    const { key } = await service.tenant('free', 'reader')
    const methods = ['initialize', 'ping', 'tools/call', 'tools/list', 'server/discover', 'subscriptions/listen']
    const others = ['notifications/initialized', 'notifications/cancelled', 'logging/setLevel', 'completion/complete']
    const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }
    const message = fc.record(
      {
        jsonrpc: fc.constantFrom('2.0', '1.0'),
        id: fc.oneof(fc.integer(), fc.string(), fc.constant(null)),
        method: fc.oneof(fc.constantFrom(...methods, ...others), fc.string()),
        params: fc.oneof(
          fc.jsonValue(),
          fc.record({ name: fc.constantFrom('find_prompts', 'live_at'), arguments: fc.jsonValue() }),
          fc.record({ _meta: fc.constantFrom(meta, {}), notifications: fc.jsonValue(), requestId: fc.integer() }),
        ),
        result: fc.jsonValue(),
      },
      { requiredKeys: [] },
    )
    const headers = fc.record(
      {
        'mcp-protocol-version': fc.constantFrom('2025-03-26', '2025-06-18', '2026-07-28', '1'),
        'mcp-method': fc.constantFrom(...methods),
        'mcp-session-id': fc.constant('x'),
        accept: fc.constantFrom('*/*', 'application/json', 'text/event-stream'),
      },
      { requiredKeys: [] },
    )
    await fc.assert(
      fc.asyncProperty(message, headers, async (sent, sentHeaders) => {
        const { statusCode, body } = await post(key, sent, sentHeaders)
        assert.ok(statusCode < 500, `${statusCode} ${body}`)
      }),
      { numRuns: 300, timeout: 20_000 },
    )
  })

  test('is not part of the API documentation', async () => {
    const { paths } = (await service.app.inject('/openapi.json')).json()
    assert.deepEqual(
      Object.keys(paths).filter((path) => path.includes('mcp')),
      [],
    )
  })

  test('a failure of ours is reported without its cause, which is in the log', async () => {
    const { key } = await service.tenant('free', 'reader')
    const client = await connectAgent(address, key)
    const { page } = service.store.prompts
    service.store.prompts.page = () => Promise.reject(new Error('disk on fire'))
    try {
      assert.deepEqual(await failedCall(client, 'find_prompts', {}), {
        error: 'internal_error',
        message: 'Internal error. Retry later.',
      })
    } finally {
      service.store.prompts.page = page
    }
    assert.ok(service.log.some((line) => line.includes('disk on fire') && line.includes('tool failed')))
  })
})

function entryOf(commitSha: string) {
  const user = { name: 'Ada Lovelace', email: 'ada@example.com' }
  return { action: 'deployed' as const, user, commitSha, prNumber: null, prUrl: null, branchName: 'main' }
}
