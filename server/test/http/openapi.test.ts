import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { failedSignIns } from '../../../contract/sessions.ts'
import type { NewVoteBody } from '../../../contract/votes.ts'
import { addAlert } from '../../../testing/alerts.ts'
import { onOneEngine, sqlite } from '../../../testing/engines.ts'
import {
  type DocumentedOperation,
  documentedOperations,
  type ErrorBody,
  exampleOf,
  type PreparedRequest,
  prepareRequest,
  schemaFinder,
  sendRequest,
} from '../../../testing/operations.ts'
import { registeredRoutes } from '../../../testing/routes.ts'
import { queryRows } from '../../../testing/rows.ts'
import { type TestService, useService } from '../../../testing/service.ts'
import { addSource } from '../../../testing/sources.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { maxActiveShares } from '../../src/domain/access/share.ts'
import { maxAlerts } from '../../src/domain/alerts/alert.ts'
import { newPrompt } from '../../src/domain/prompt.ts'
import type { StoredShift } from '../../src/domain/shifts/shift.ts'
import { maxSources } from '../../src/domain/sources/source.ts'
import { filePaths, pagePaths } from '../../src/http/console/routes.ts'
import {
  type Document,
  type Operation,
  type Response,
  resolve,
  type Schema,
} from '../../src/http/docs/openapi-document.ts'
import { scriptPaths } from '../../src/http/docs/routes.ts'
import { mcpPath } from '../../src/http/mcp/path.ts'
import { otlpPaths } from '../../src/http/otlp/routes.ts'

// Slow: prepares and sends a request for each operation.

const root = new URL('../../../', import.meta.url)

// The console is not part of the API.
const consoleRoutes = [...pagePaths, ...filePaths, ...scriptPaths].flatMap((url) =>
  ['GET', 'HEAD'].map((method) => `${method} ${withBraces(url)}`),
)

// Browsers send it themselves, before a vote.
const preflight = 'OPTIONS /api/v1/votes'
// Agents speak a protocol of their own.
const agentRoutes = ['GET', 'DELETE', 'POST'].map((method) => `${method} ${mcpPath}`)
// So do exporters.
const otlpRoutes = Object.values(otlpPaths).map((path) => `POST ${path}`)
const otherWaysToReference = ['HEAD /docs', 'GET /docs/']
// For the page of a share link.
const sharedRoute = 'GET /api/v1/shared'
// For the pages of the console.
const signInRoutes = [
  'GET /api/v1/sign-in',
  'POST /api/v1/sign-in',
  'POST /api/v1/sign-in/email',
  'POST /api/v1/sign-in/link',
  'GET /sign-in/callback',
  'PUT /api/v1/session/organisation',
]
const undocumentedRoutes = [
  ...signInRoutes,
  sharedRoute,
  ...consoleRoutes,
  preflight,
  ...agentRoutes,
  ...otlpRoutes,
  ...otherWaysToReference,
]

function withBraces(url: string): string {
  return url.replaceAll(/:(\w+)/g, '{$1}')
}

async function readDocument({ app }: TestService): Promise<Document> {
  const response = await app.inject('/openapi.json')
  assert.equal(response.statusCode, 200)
  assert.equal(response.headers['content-type'], 'application/json; charset=utf-8')
  return response.json()
}

/** The routes of the API. */
function routesOf({ app }: TestService): string[] {
  return registeredRoutes(app)
    .map(withBraces)
    .filter((route) => !route.endsWith('*') && !undocumentedRoutes.includes(route))
}

/** Every operation and schema, without their prose. */
function outline(document: Document): string {
  const operations = documentedOperations(document).map(({ name, operation }) =>
    outlineOperation(document, name, operation),
  )
  const events = Object.entries(document.webhooks).map(([event, { post }]) => outlineOperation(document, event, post))
  const schemas = Object.entries(document.components.schemas).map(([name, schema]) => `${name}\n  ${shapeOf(schema)}`)
  return [...operations, ...events, ...schemas].map((text) => `${text}\n`).join('\n')
}

function outlineOperation(document: Document, name: string, operation: Operation): string {
  const { operationId, description, parameters = [], requestBody, responses } = operation
  const bodies = Object.entries(responses).map(([status, response]) => {
    const { content = {} } = resolve<Response>(document, response)
    return [status, ...Object.values(content).map(({ schema }) => shapeOf(schema))].join(' ')
  })
  const errors = bodies.filter((body) => body.endsWith(' Error'))
  return [
    `${name} ${operationId}`,
    `  ${description.split('\n').at(-1)}`,
    ...parameters.map((each) => `  ${each.in} ${each.name}${each.required ? '' : '?'}: ${shapeOf(each.schema)}`),
    ...Object.values(requestBody?.content ?? {}).map(({ schema }) => `  body ${shapeOf(schema)}`),
    ...bodies.filter((body) => !errors.includes(body)).map((body) => `  ${body}`),
    `  ${errors.map((body) => body.slice(0, 3)).join(' ')}`.trimEnd(),
  ].join('\n')
}

// What a change of may reject requests or break clients.
const constraints = [
  'format',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'default',
] as const

function shapeOf(schema: Schema): string {
  const given = constraints.flatMap((name) => (name in schema ? `${name} ${JSON.stringify(schema[name])}` : []))
  return given.length === 0 ? typeText(schema) : `${typeText(schema)} (${given.join(', ')})`
}

function typeText(schema: Schema): string {
  const { $ref, type, const: value, enum: values, properties, required, items, anyOf, additionalProperties } = schema
  if ($ref !== undefined) return $ref.split('/').at(-1) as string
  if (anyOf !== undefined) return anyOf.map(shapeOf).join(' | ')
  if (value !== undefined) return JSON.stringify(value)
  if (values !== undefined) return values.map((each) => JSON.stringify(each)).join(' | ')
  const rest = [type].flat().includes('null') ? ' | null' : ''
  if (items !== undefined) return `(${shapeOf(items)})[]${rest}`
  if (properties === undefined) return [type].flat().join(' | ')
  const members = Object.entries(properties).map(
    ([name, property]) => `${name}${required?.includes(name) ? '' : '?'}: ${shapeOf(property)}`,
  )
  // Other members are allowed.
  if (additionalProperties !== false) members.push('…')
  return `{ ${members.join(', ')} }${rest}`
}

describe('The OpenAPI document', () => {
  const service = useService(sqlite)
  let document: Document
  let operations: DocumentedOperation[]
  before(async () => {
    document = await readDocument(service)
    operations = documentedOperations(document)
  })

  test('the API changes only together with operations.txt, which shows the change to reviewers', (t) => {
    t.assert.fileSnapshot(outline(document), fileURLToPath(new URL('operations.txt', import.meta.url)), {
      serializers: [(text) => text],
    })
  })

  test('the OpenAPI document passes the linter without warnings', { timeout: 60_000 }, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'promptledger-openapi-'))
    t.after(() => rm(folder, { recursive: true }))
    const file = join(folder, 'openapi.json')
    await writeFile(file, JSON.stringify(document))
    const linter = fileURLToPath(new URL('node_modules/.bin/redocly', root))
    assert.ok(existsSync(linter), '@redocly/cli is not installed: run npm ci')
    // The tests must not send telemetry or look for updates.
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
    const arguments_ = [linter, 'lint', file, '--config=redocly.yaml', '--format=stylish']
    const { status, stdout, stderr } = spawnSync(process.execPath, arguments_, { cwd: root, env, encoding: 'utf8' })
    assert.equal(status, 0, stdout + stderr)
    assert.doesNotMatch(stdout + stderr, /warning/)
  })

  test('the OpenAPI document describes every route of the service and nothing else', () => {
    assert.deepEqual(operations.map(({ name }) => name).sort(), routesOf(service).sort())
  })

  test('every operation has a description and an example of success', () => {
    const tags = document.tags.map(({ name }) => name)
    const missing = operations.flatMap(({ name, path, operation, success }) => {
      const { operationId, summary, parameters = [], requestBody } = operation
      const needsExamples = path.startsWith('/api/v1/')
      const requirements = {
        operationId: /^[a-z][A-Za-z]+$/.test(operationId),
        summary: summary !== '',
        'one known tag': operation.tags.length === 1 && tags.includes(operation.tags[0] ?? ''),
        'a description of each parameter': parameters.every(({ description }) => description !== ''),
        'an example of its body': !needsExamples || !requestBody || exampleOf(requestBody.content) !== undefined,
        'a success response': success !== undefined,
        'an example of success':
          !needsExamples || success?.status === 204 || exampleOf(success?.response.content) !== undefined,
      }
      return Object.entries(requirements).flatMap(([what, isMet]) => (isMet ? [] : `${name} needs ${what}`))
    })
    assert.deepEqual(missing, [])
    const ids = operations.map(({ operation }) => operation.operationId)
    assert.deepEqual(ids, [...new Set(ids)])
  })

  test('every operation lists the errors that its checks can produce', () => {
    for (const { name, path, method, operation, errors } of operations.filter(({ path }) =>
      path.startsWith('/api/v1/'),
    )) {
      const statuses = errors.map(({ status }) => status)
      const isRestricted = /Requires a key with the role/.test(operation.description)
      const expected = [401, ...(isRestricted ? [403] : []), ...(path.includes('{') ? [404] : []), 500]
      for (const status of expected) assert.ok(statuses.includes(status), `${name} needs ${status}`)
      // Bodies are parsed for every method except GET, even if the operation needs none.
      if (method !== 'get') assert.ok(statuses.includes(422), `${name} needs 422`)
      // Only a key can start a session. A vote from a page has a token instead, and events have a signature.
      const signed = ['source_signature', 'source_secret', 'slack', 'intercom', 'zendesk'].map((name) => ({
        [name]: [],
      }))
      const security: Record<string, object[]> = { signIn: [{ key: [] }], createVote: [], receiveEvents: signed }
      assert.deepEqual(operation.security, security[operation.operationId])
    }
  })

  test('every example in the OpenAPI document matches its schema', () => {
    const schemaAt = schemaFinder(document)
    const contents = [
      ...operations.flatMap(({ path, method, operation }) => [
        { steps: ['paths', path, method, 'requestBody'], content: operation.requestBody?.content },
        ...Object.entries(operation.responses).map(([status, response]) => ({
          steps: ['paths', path, method, 'responses', status],
          content: '$ref' in response ? undefined : response.content,
        })),
      ]),
      ...Object.entries(document.webhooks).map(([event, { post }]) => ({
        steps: ['webhooks', event, 'post', 'requestBody'],
        content: post.requestBody?.content,
      })),
      ...Object.entries(document.components.responses).map(([name, { content }]) => ({
        steps: ['components', 'responses', name],
        content,
      })),
    ]
    for (const { steps, content = {} } of contents) {
      for (const [type, { examples = {} }] of Object.entries(content)) {
        const matches = schemaAt(...steps, 'content', type, 'schema')
        for (const { value } of Object.values(examples)) {
          assert.ok(matches(value), `${steps.join(' ')}: ${JSON.stringify(matches.errors)}`)
        }
      }
    }
    for (const { name, errors } of operations) {
      for (const { status, response, example } of errors) {
        assert.ok(example?.error.code && example.error.message, `${name} ${status} needs an example`)
        assert.ok(JSON.stringify(response).includes('#/components/schemas/'), `${name} ${status} needs the error body`)
      }
    }
  })

  test('malformed HTTP gets the documented response', async () => {
    await service.app.listen({ port: 0, host: '127.0.0.1' })
    const { port } = service.app.server.address() as AddressInfo
    for (const { path, method, errors } of operations.filter(({ operation }) => operation.tags[0] === 'Service')) {
      const [status, body] = await new Promise<[number, ErrorBody]>((resolve, reject) => {
        const headers = { 'x-large': 'x'.repeat(20_000) }
        const sent = request({ host: '127.0.0.1', port, path, method, headers }, async (response) => {
          resolve([response.statusCode ?? 0, JSON.parse((await response.toArray()).join(''))])
        })
        sent.on('error', reject).end()
      })
      assert.equal(status, 422)
      assert.deepEqual(body, errors.find((error) => error.status === 422)?.example)
    }
  })
})

/** Invalid input that gets the documented 422, for operations where an empty body or a nonsense parameter does not. */
const invalidInputs: Record<string, Partial<PreparedRequest>> = {
  createKey: { body: { role: 'king' } },
  createInvitation: { body: { role: 'king' } },
  updatePerson: { body: { role: 'king' } },
  rotateKey: { body: { overlap_hours: -1 } },
  rotateAlertSecret: { body: { overlap_hours: -1 } },
  updateAlert: { body: { hold_minutes: -1 } },
  updateSource: { body: { midpoint: 'high' } },
  rotateRepositorySecret: { body: { overlap_hours: -1 } },
  updateRepository: { body: { token: 5 } },
  listPrompts: { query: { sort: 'age' } },
  listTimeline: { query: { action: 'pushed' } },
  searchTexts: { query: { q: 'x'.repeat(201) } },
  createShare: { body: { regression_id: 987654321 } },
  listVersions: { query: { q: 'x'.repeat(201) } },
  updateRegression: { body: { owner: 'grace' } },
  updateShift: { body: { owner: 'grace' } },
  proposeRevert: { body: { mode: 'merge' } },
  listRegressions: { query: { state: 'gone' } },
  listPromptRegressions: { query: { state: 'gone' } },
  listShifts: { query: { cause: 'weather' } },
  listPromptShifts: { query: { cause: 'weather' } },
  getDelivery: { query: { prompts: '*a'.repeat(11) } },
  getPromptText: { query: { unit: '' } },
  startTrial: { body: { pull: 41, share: 1.1 } },
  listTrials: { query: { state: 'gone' } },
  getTrial: { query: { by: 'model' } },
  getTrialCandidate: { query: {} },
  updateDeliverySettings: { body: { excluded: ['*a'.repeat(11)] } },
}

/** Puts the resource into a state in which the operation gets the documented 409. */
const conflicts: Record<
  string,
  (service: TestService, prepared: PreparedRequest, operation: DocumentedOperation) => Promise<unknown>
> = {
  connectRepository: (service, prepared, operation) => sendRequest(service, operation, prepared),
  createPrompt: takeName,
  renamePrompt: takeName,
  recordRepositoryDeployment: disconnect,
  syncRepository: disconnect,
  // Another process is syncing it.
  updateRepository: ({ store, now }, { parameters }) =>
    store.repositories.lease(Number(parameters.repository_id), 'another process', now, now + 10_000),
  redeliver: disconnect,
  dismissRegression: ({ store, now }, { tenant, parameters }) =>
    store.regressions.repair(tenant.prompt, Number(parameters.regression_id), { at: now, by: 'rate', entryId: null }),
  updateRegression: ({ store, now }, { tenant, parameters }) =>
    store.regressions.repair(tenant.prompt, Number(parameters.regression_id), { at: now, by: 'rate', entryId: null }),
  updateShift: moveBack,
  dismissShift: moveBack,
  proposeRevert: ({ store, now }, { tenant, parameters }) =>
    store.regressions.repair(tenant.prompt, Number(parameters.regression_id), { at: now, by: 'rate', entryId: null }),
  createShare: async (service, prepared, operation) => {
    for (let count = 0; count < maxActiveShares; count++) await sendRequest(service, operation, prepared)
  },
  addAlert: async (service, { tenant }) => {
    for (let count = 1; count < maxAlerts; count++) await addAlert(service, tenant.organisation.id)
  },
  addSource: async (service, { tenant }) => {
    for (let count = 1; count < maxSources; count++) await addSource(service, tenant.organisation.id)
  },
  retryAlertDelivery: ({ url }, { parameters }) =>
    queryRows(url, `update alert_deliveries set state = 'sent' where public_id = '${parameters.message_id}'`),
  rotateAlertSecret: ({ url }, { parameters }) =>
    queryRows(url, `update alerts set channel = 'slack' where public_id = '${parameters.alert_id}'`),
  rotateKey: ({ store, now }, { parameters }) => store.keys.revoke(Number(parameters.key_id), now, operator),
  getDelivery: turnDeliveryOff,
  getPromptText: turnDeliveryOff,
  startTrial: (service, prepared, operation) => sendRequest(service, operation, prepared),
  updateTrial: (service, prepared, operation) =>
    sendRequest(service, operation, { ...prepared, body: { state: 'ended' } }),
}

/** The rate of a prompt with a shift is as before it again. */
async function moveBack({ store: { shifts } }: TestService, { tenant: { prompt } }: PreparedRequest): Promise<void> {
  const [shift] = (await shifts.ofPrompt(prompt)) as [StoredShift]
  const { id: _, at, rateBefore, rateAfter, ...rest } = shift
  await shifts.replace(prompt, [shift, { ...rest, at: at + 1, rateBefore: rateAfter, rateAfter: rateBefore }])
}

async function turnDeliveryOff({ store, now }: TestService, { tenant }: PreparedRequest): Promise<void> {
  await store.liveTexts.updateSettings(tenant.organisation.id, { enabled: false }, now, operator)
}

async function takeName({ store, now }: TestService, { tenant, body }: PreparedRequest): Promise<void> {
  await store.prompts.create(newPrompt(tenant.organisation.id, (body as { name: string }).name, now), operator)
}

async function disconnect({ store, now }: TestService, { parameters }: PreparedRequest): Promise<void> {
  const repository = await store.repositories.find(Number(parameters.repository_id))
  if (repository !== null) await store.repositories.disconnect(repository, now, operator)
}

/** Requests that get the given error status, if it can be provoked. */
async function provoke(
  service: TestService,
  operation: DocumentedOperation,
  prepared: PreparedRequest,
  { status, isShared, example }: { status: number; isShared: boolean; example?: ErrorBody | undefined },
): Promise<PreparedRequest[]> {
  const { tenant, parameters, query, headers, sign } = prepared
  const { operationId, requestBody } = operation.operation
  const isAmbiguous = example !== undefined && 'prompt_ids' in example.error
  switch (status) {
    case 401: {
      if (operationId === 'createVote') return [{ ...prepared, body: exampleOf(requestBody?.content) }]
      const { authorization, 'x-hub-signature-256': forge, 'x-promptledger-signature': source, ...others } = headers
      return [{ ...prepared, headers: others }]
    }
    case 403: {
      if (!isShared) {
        const signedIn = await service.app.inject({ method: 'POST', url: '/api/v1/session', headers: tenant.headers })
        const cookie = String(signedIn.headers['set-cookie'])
        const { authorization, ...others } = headers
        return [{ ...prepared, headers: { ...others, cookie, 'sec-fetch-site': 'cross-site' } }]
      }
      const key = await service.key(tenant.organisation, 'ingest')
      return [{ ...prepared, headers: { ...headers, authorization: `Bearer ${key}` } }]
    }
    case 404: {
      const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string)
      return names.map((name) => ({ ...prepared, parameters: { ...parameters, [name]: '987654321' } }))
    }
    case 409:
      assert.ok(conflicts[operationId], `add a way to provoke a conflict for ${operationId}`)
      await conflicts[operationId]?.(service, prepared, operation)
      return [prepared]
    case 422: {
      if (isShared) return [{ ...prepared, headers: { 'content-type': 'application/json', ...headers }, body: '' }]
      if (operationId === 'receiveDelivery' || operationId === 'receiveEvents') {
        const malformed = Buffer.from(operationId === 'receiveEvents' ? [0x7b] : [0xff])
        return [{ ...prepared, headers: sign(malformed), body: malformed }]
      }
      if (isAmbiguous) return [{ ...prepared, parameters: { ...parameters, prompt_id: await sharedName(prepared) } }]
      if (operationId === 'createVote') return [{ ...prepared, body: { token: (prepared.body as NewVoteBody).token } }]
      if (invalidInputs[operationId] !== undefined) return [{ ...prepared, ...invalidInputs[operationId] }]
      if (requestBody !== undefined) return [{ ...prepared, body: {} }]
      if (operation.method !== 'get')
        return [{ ...prepared, headers: { 'content-type': 'text/plain', ...headers }, body: 'x' }]
      const names = Object.keys(query).filter((name) => name !== 'page' && name !== 'limit')
      return [{ ...prepared, query: { ...query, ...Object.fromEntries(names.map((name) => [name, 'nonsense'])) } }]
    }
    case 429:
      if (operationId === 'testAlert') {
        for (let sent = 0; sent < 10; sent++) await sendRequest(service, operation, prepared)
        return [prepared]
      }
      if (operationId === 'signIn') {
        const { authorization, ...others } = headers
        const withoutKey = { ...prepared, headers: others }
        for (let sent = 0; sent < failedSignIns; sent++) await sendRequest(service, operation, withoutKey)
        return [withoutKey]
      }
      await tenant.fillMonth(1_000 - (await tenant.used()))
      if (operationId === 'receiveEvents') {
        const body = JSON.stringify({ rating: 'up', message_id: 'another' })
        return [{ ...prepared, headers: sign(Buffer.from(body)), body }]
      }
      // The same idempotency key would get its first response again.
      return [{ ...prepared, headers: { ...headers, 'Idempotency-Key': 'another' } }]
    default:
      return []
  }
}

/** A name that two prompts have. Only earlier versions could create them. */
async function sharedName({ tenant }: PreparedRequest): Promise<string> {
  for (const suffix of ['1', '2']) {
    await queryRows(
      tenant.service.url,
      `insert into prompts (organisation_id, public_id, name, created_at)
       values (${tenant.organisation.id}, 'pmt_${suffix.repeat(24)}', 'shared', 1)`,
    )
  }
  return 'shared'
}

/** IDs differ from run to run. */
function withoutIds(body: ErrorBody): unknown {
  return JSON.parse(
    JSON.stringify(body)
      .replaceAll(/(?<=[Kk]ey )\d+/g, '0')
      .replaceAll(/(pmt|trl)_[0-9A-Za-z]{24}/g, '$1_'),
  )
}

// access.test.ts sends the same requests on PostgreSQL.
onOneEngine('The documented examples', (engine) => {
  const service = useService(engine)
  let document: Document
  /** Requests that were rejected so far, whose resources are as they were. */
  const unchanged = new Map<string, PreparedRequest>()
  before(async () => {
    document = await readDocument(service)
  })

  test('every documented example error is exactly what the service responds', async (t) => {
    for (const documented of documentedOperations(document)) {
      if (documented.operation.tags[0] === 'Service') continue
      // A rejected request changes nothing, so all errors can share one preparation.
      const prepared = await prepareRequest(service, documented)
      // process/database-failure.test.ts provokes the 500s.
      for (const error of documented.errors.filter(({ status }) => status < 500)) {
        await t.test(`${documented.name} ${error.status}`, async () => {
          const requests = await provoke(service, documented, prepared, error)
          assert.ok(requests.length > 0, 'no request provokes this error')
          for (const request of requests) {
            const response = await sendRequest(service, documented, request)
            assert.equal(response.statusCode, error.status, response.body)
            assert.deepEqual(withoutIds(response.json()), withoutIds(error.example))
            for (const header of Object.keys(error.response.headers ?? {})) {
              assert.ok(response.headers[header.toLowerCase()] !== undefined, `${header} is missing`)
            }
          }
        })
      }
      // To provoke these takes more than the request. A repository is removed after its test.
      const isChanged = documented.errors.some(({ status }) => status === 409 || status === 429)
      if (!isChanged && prepared.parameters.repository_id === undefined) unchanged.set(documented.name, prepared)
    }
  })

  test('every documented example request gets a documented response', async (t) => {
    const schemaAt = schemaFinder(document)
    for (const documented of documentedOperations(document)) {
      await t.test(documented.name, async () => {
        const { path, method, success } = documented
        const prepared = unchanged.get(documented.name) ?? (await prepareRequest(service, documented))
        const response = await sendRequest(service, documented, prepared)
        assert.equal(response.statusCode, success.status, response.body)
        for (const header of Object.keys(success.response.headers ?? {})) {
          assert.ok(response.headers[header.toLowerCase()] !== undefined, `${header} is missing`)
        }
        if (success.response.content === undefined) {
          assert.equal(response.body, '')
          return
        }
        const [type = ''] = String(response.headers['content-type']).split(';')
        assert.ok(success.response.content[type], `${type} is not documented`)
        const matches = schemaAt('paths', path, method, 'responses', String(success.status), 'content', type, 'schema')
        assert.ok(
          matches(type === 'application/json' ? response.json() : response.body),
          JSON.stringify(matches.errors),
        )
      })
    }
  })
})
