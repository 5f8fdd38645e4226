import assert from 'node:assert/strict'
import { test } from 'node:test'
import { oneCreatedShareSchema, type ShareBody, sharePageSchema } from '../../../contract/shares.ts'
import { assertError, assertMatchesSchema } from '../../../testing/assertions.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import {
  type DocumentedOperation,
  documentedOperations,
  exampleOf,
  prepareRequest,
  sendRequest,
} from '../../../testing/operations.ts'
import { allRows } from '../../../testing/rows.ts'
import { connectedScenario } from '../../../testing/scenario.ts'
import { type Tenant, useService } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { maxActiveShares } from '../../src/domain/access/share.ts'
import { newPrompt } from '../../src/domain/prompt.ts'
import { day, hour, isoTime } from '../../src/domain/time.ts'

/** What a link may read of its prompt. */
const shown = [
  'getHistoryEntry',
  'getPrompt',
  'getRegression',
  'getTimelineEntry',
  'listPromptRegressions',
  'listPromptShifts',
  'listTimeline',
  'summariseSignals',
]

onOneEngine('Share links', (engine) => {
  const service = useService(engine)

  async function share({ path, headers }: Pick<Tenant, 'path' | 'headers'>, payload: object = {}) {
    const response = await service.app.inject({ method: 'POST', url: `${path}/shares`, headers, payload })
    assert.equal(response.statusCode, 201, response.body)
    assertMatchesSchema(oneCreatedShareSchema, response)
    assert.equal(response.headers['cache-control'], 'no-store')
    const { url, ...created } = response.json().data as ShareBody & { url: string }
    const { hash } = new URL(url)
    return { created, url, visitor: { authorization: `Bearer ${hash.slice(1)}` }, token: hash.slice(1) }
  }

  const get = (url: string, headers: Record<string, string>) => service.app.inject({ url, headers })

  async function listed({ path, headers }: Tenant): Promise<ShareBody[]> {
    const response = await get(`${path}/shares`, headers)
    assertMatchesSchema(sharePageSchema, response)
    return response.json().data
  }

  test('a link shows the prompt until it expires, and then says that it has', async () => {
    const tenant = await service.tenant()
    const { visitor, created, url, token } = await share(tenant)
    assert.match(url, /\/shared#plv_[0-9A-Za-z]{43}$/)
    assert.equal(created.expires_at, isoTime(service.now + 7 * day))
    const about = (await get('/api/v1/shared', visitor)).json().data
    assert.deepEqual(about, {
      prompt: { id: tenant.prompt.publicId, name: tenant.prompt.name },
      regression_id: null,
      includes_signals: false,
      expires_at: created.expires_at,
    })
    const page = await get(tenant.path, visitor)
    assert.deepEqual([page.statusCode, page.headers['cache-control']], [200, 'no-store'])
    assert.deepEqual(await listed(tenant), [created])
    assert.ok(!JSON.stringify(await allRows(service.url)).includes(token), 'only the hash is stored')
    service.now += 7 * day
    const expired = await get(tenant.path, visitor)
    assertError(expired, 401, 'unauthorized', /^This link has expired/)
    assert.equal(expired.json().error.reason, 'expired')
  })

  test('a revoked link, one whose key was revoked and one of a deleted prompt show nothing from then on, and say so', async () => {
    const tenant = await service.tenant('free', 'admin')
    const first = await share(tenant)
    const revoke = (id: number) =>
      service.app.inject({ method: 'DELETE', url: `${tenant.path}/shares/${id}`, headers: tenant.headers })
    assert.equal((await revoke(first.created.id)).statusCode, 204)
    assert.equal((await revoke(first.created.id)).statusCode, 204)
    const rejected = await get(tenant.path, first.visitor)
    assertError(rejected, 401, 'unauthorized', /^This link was revoked/)
    assert.equal(rejected.json().error.reason, 'revoked')
    const [inList] = await listed(tenant)
    assert.equal(inList?.revoked_at, isoTime(service.now))
    const actions = (
      await service.store.audit.page(
        tenant.organisation.id,
        { action: null, actor: null, since: null, until: null },
        { page: '1', limit: 10 },
      )
    ).entries.map(({ action, details }) => [action, details?.link])
    assert.deepEqual(actions.slice(0, 2), [
      ['share.revoked', `…${first.created.hint}`],
      ['share.created', `…${first.created.hint}`],
    ])

    const other = await service.key(tenant.organisation, 'standard')
    const ofKey = await share({ path: tenant.path, headers: { authorization: `Bearer ${other}` } })
    const keys = await service.store.keys.list(tenant.organisation.id)
    await service.store.keys.revoke(keys.at(-1)?.id as number, service.now, operator)
    assertError(await get(tenant.path, ofKey.visitor), 401, 'unauthorized', /^This link was revoked/)

    const last = await share(tenant)
    await service.store.prompts.delete(tenant.prompt, service.now, operator)
    assertError(await get(tenant.path, last.visitor), 401, 'unauthorized', /^This link was revoked/)
  })

  test('a link ends with the key that created it, also after a rotation, and then counts for no limit', async () => {
    const tenant = await service.tenant('free', 'admin')
    const other = { path: tenant.path, headers: { authorization: `Bearer ${await service.key(tenant.organisation)}` } }
    for (let i = 0; i < maxActiveShares; i++) await share(other)
    const { visitor } = await share(other).catch(() => ({ visitor: null }))
    assert.equal(visitor, null, 'the limit is reached')
    const [ofOther] = await listed(tenant)
    const key = (await service.store.keys.list(tenant.organisation.id)).at(-1)
    const rotation = { method: 'POST', headers: tenant.headers, payload: { overlap_hours: 1 } } as const
    assert.equal((await service.app.inject({ ...rotation, url: `/api/v1/keys/${key?.id}/rotate` })).statusCode, 201)
    assert.ok(ofOther !== undefined)
    assert.equal((await listed(tenant))[0]?.expires_at, isoTime(service.now + hour))
    await service.store.keys.revoke(key?.id as number, service.now, operator)
    await share(tenant)
  })

  test('another prompt gets the same 404 by its ID, its name or an unknown ID, in this organisation and in others', async () => {
    const tenant = await service.tenant()
    const { visitor } = await share(tenant)
    const { organisation } = tenant
    const another = await service.store.prompts.create(newPrompt(organisation.id, 'another', service.now), operator)
    const theirs = await service.tenant()
    const references = [
      another.publicId,
      'another',
      tenant.prompt.name,
      theirs.prompt.publicId,
      `pmt_${'0'.repeat(24)}`,
    ]
    const responses = await Promise.all(
      references.map((reference) => get(`/api/v1/prompts/${encodeURIComponent(reference)}`, visitor)),
    )
    assert.deepEqual(
      responses.map(({ statusCode, body }) => [statusCode, body]),
      references.map(() => [404, responses[0]?.body]),
    )
  })

  test('a link of a regression shows neither notes nor who was told', async () => {
    const tenant = await service.tenant('free', 'admin')
    const entry = await tenant.recordEntry()
    const figures = { rateBefore: 0.8, rateAfter: 0.6, difference: -0.2, interval: [-0.3, -0.1] as [number, number] }
    const rest = { explanation: 'x', evidence: 2, signalsBefore: 10, signalsAfter: 10, liveFrom: 1 }
    await service.store.regressions.open(tenant.prompt, entry, { ...figures, ...rest }, service.now)
    const [regression] = await service.store.regressions.ofPrompt(tenant.prompt)
    const id = regression?.id as number
    const { path, headers } = tenant
    const dismissal = { method: 'POST', headers, payload: { note: 'for our eyes' } } as const
    await service.app.inject({ ...dismissal, url: `${path}/regressions/${id}/dismiss` })
    const { visitor, created } = await share(tenant, { regression_id: id })
    assert.equal(created.regression_id, id)
    for (const end of [`/${id}`, '']) {
      const response = await get(`${tenant.path}/regressions${end}`, visitor)
      assert.equal(response.statusCode, 200)
      assert.ok(!response.body.includes('for our eyes'))
    }
    assert.deepEqual((await get(`${tenant.path}/regressions/${id}`, visitor)).json().data.told, [])
  })

  test('addresses of authors are left out, and texts that look like them are not', async () => {
    // So long that the response is sent as bytes.
    const text = `{"email":"ada@example.com"} ${'x'.repeat(20_000)}`
    const s = await connectedScenario(service, {
      prepare: (git) => {
        git.commit('Start\n\nCo-authored-by: Bob <bob@example.com>', { 'prompts/p.md': text })
        git.push()
      },
    })
    const id = await s.promptId('prompts/p.md')
    const [entry] = await s.historyOf(id)
    const path = `/api/v1/prompts/${id}`
    const { visitor } = await share({ path, headers: s.tenant.headers })
    const { data } = (await get(`${path}/history/${entry?.id}`, visitor)).json()
    assert.equal(data.after, text)
    assert.equal(data.message, 'Start\n\nCo-authored-by: Bob <>')
    assert.deepEqual(data.user, { name: entry?.user.name, email: '' })
    const timeline = (await get(`${path}/timeline`, visitor)).json()
    assert.equal(timeline.data[0].entry.user.email, '')
    assert.equal(timeline.data[0].message, data.message)
    assert.notEqual(entry?.user.email, '')
  })

  test('signals, with comments and metadata, are shown only if that was chosen', async () => {
    const tenant = await service.tenant('free', 'admin')
    const metadata = { email: 'a@example.com' }
    await tenant.signal({ value: 'negative', comment: 'Too long.', metadata })
    const [without, included] = [await share(tenant), await share(tenant, { includes_signals: true })]
    assertError(await get(`${tenant.path}/signals`, without.visitor), 403, 'forbidden', /^This link does not show/)
    const [signal] = (await get(`${tenant.path}/signals`, included.visitor)).json().data
    assert.deepEqual([signal.comment, signal.metadata], ['Too long.', metadata])
    const entry = await tenant.recordEntry()
    const declaration = { method: 'PUT', headers: tenant.headers, payload: { keys: ['model'] } } as const
    await service.app.inject({ ...declaration, url: '/api/v1/segments' })
    const segments = `${tenant.path}/timeline/${entry.id}?by=metadata.model`
    assertError(await get(segments, without.visitor), 403, 'forbidden')
    assert.equal((await get(segments, included.visitor)).statusCode, 200)
    const lines = `${tenant.path}/signals/summary?by=metadata.model`
    assertError(await get(lines, without.visitor), 403, 'forbidden')
    assert.equal((await get(lines, included.visitor)).statusCode, 200)
  })

  test('every other operation is rejected, with every method and also over MCP, and changes nothing', async () => {
    const operations = documentedOperations((await service.app.inject('/openapi.json')).json())
    const ofKeys = operations.filter(
      ({ path, operation: { security, operationId } }) =>
        path.startsWith('/api/v1') && security?.length !== 0 && operationId !== 'receiveEvents',
    )
    const known = ofKeys.find(({ operation }) => operation.operationId === 'getRegression') as DocumentedOperation
    const prepared = await prepareRequest(service, known)
    const { visitor } = await share(prepared.tenant, { includes_signals: true })
    const parameters = { repository_id: 1, delivery_id: 1, ...prepared.parameters }
    const state = await allRows(service.url)
    const accepted: string[] = []
    for (const documented of ofKeys) {
      const body = exampleOf(documented.operation.requestBody?.content)
      const response = await sendRequest(service, documented, { ...prepared, parameters, body, headers: visitor })
      if (response.statusCode === 200) accepted.push(documented.operation.operationId)
      else assertError(response, 403, 'forbidden', /^This link does not show this/)
    }
    assert.deepEqual(await allRows(service.url), state)
    assert.deepEqual(accepted.sort(), [...shown, 'listSignals'].sort())
    const payload = { jsonrpc: '2.0', id: 1, method: 'ping' }
    const agent = await service.app.inject({ method: 'POST', url: '/mcp', headers: visitor, payload })
    assert.equal(agent.statusCode, 401)
  })

  test('a link lasts at most 90 days, names a regression of its prompt, and readers cannot create one', async () => {
    const tenant = await service.tenant()
    const create = (payload: object, headers: Record<string, string> = tenant.headers) =>
      service.app.inject({ method: 'POST', url: `${tenant.path}/shares`, headers, payload })
    const late = isoTime(service.now + 91 * day)
    assertError(await create({ expires_at: late }), 422, 'validation_error', /^expires_at must be at most 90 days/)
    assertError(await create({ expires_at: isoTime(service.now) }), 422, 'validation_error', /in the future/)
    assertError(await create({ regression_id: 987654321 }), 422, 'validation_error', /^regression_id must be/)
    const reader = { authorization: `Bearer ${await service.key(tenant.organisation, 'reader')}` }
    assertError(await create({}, reader), 403, 'forbidden')
    const { visitor } = await share(tenant)
    assertError(await create({}, visitor), 403, 'forbidden')
    assertError(await get(tenant.path, { authorization: `Bearer plv_${'0'.repeat(43)}` }), 401, 'unauthorized')
  })
})
