import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { onEachEngine, sqlite } from '../../../testing/engines.ts'
import {
  type Documented,
  type ErrorBody,
  exampleOf,
  operationsOf,
  type Prepared,
  prepare,
  schemasOf,
  send,
} from '../../../testing/operations.ts'
import { type TestService, useService } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { files, pages } from '../../src/http/console/routes.ts'
import type { Document } from '../../src/http/docs/openapi-document.ts'

const root = new URL('../../../', import.meta.url)

// The console is no part of the interface.
const consoles = [...pages, ...files].flatMap((url) => ['GET', 'HEAD'].map((method) => `${method} ${braced(url)}`))

function braced(url: string): string {
  return url.replaceAll(/:(\w+)/g, '{$1}')
}

async function readDocument({ app }: TestService): Promise<Document> {
  const response = await app.inject('/openapi.json')
  assert.equal(response.statusCode, 200)
  assert.equal(response.headers['content-type'], 'application/json; charset=utf-8')
  return response.json()
}

/** The routes of the interface as the router prints them: a tree in which each line adds to the address of the lines above. */
function routesOf({ app }: TestService): string[] {
  const parts: string[] = []
  return app
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const [, indent = '', part = '', methods = ''] = /^((?:[│ ] {3})*[├└]── )(\S*)(?: \((.*)\))?$/.exec(line) ?? []
      parts.splice(indent.length / 4 - 1, Number.POSITIVE_INFINITY, part)
      const url = braced(parts.join(''))
      return methods === '' ? [] : methods.split(', ').map((method) => `${method} ${url}`)
    })
    .filter((route) => !route.endsWith('*') && !consoles.includes(route))
}

describe('The OpenAPI document', () => {
  const service = useService(sqlite)
  let document: Document
  let operations: Documented[]
  before(async () => {
    document = await readDocument(service)
    operations = operationsOf(document)
  })

  test('is the one in docs', async () => {
    const { body } = await service.app.inject('/openapi.json')
    const committed = readFileSync(new URL('docs/openapi.json', root), 'utf8')
    assert.ok(body === committed, 'docs/openapi.json is not up to date: run npm run openapi')
  })

  test('has no complaint from a linter, not even a warning', { timeout: 60_000 }, () => {
    const linter = fileURLToPath(new URL('node_modules/.bin/redocly', root))
    assert.ok(existsSync(linter), '@redocly/cli is not installed: run npm ci')
    // It would tell its makers about the run and look for a newer version of itself.
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
    const arguments_ = [linter, 'lint', 'docs/openapi.json', '--format=stylish']
    const { status, stdout, stderr } = spawnSync(process.execPath, arguments_, { cwd: root, env, encoding: 'utf8' })
    assert.equal(status, 0, stdout + stderr)
    assert.doesNotMatch(stdout + stderr, /warning/)
  })

  test('describes every route of the service and nothing else', () => {
    assert.deepEqual(operations.map(({ name }) => name).sort(), routesOf(service).sort())
  })

  test('says of every operation what it does, and shows how success looks', () => {
    const tags = document.tags.map(({ name }) => name)
    const lacks = operations.flatMap(({ name, path, operation, success }) => {
      const { operationId, summary, parameters = [], requestBody } = operation
      const shown = path.startsWith('/api/v1/')
      const needs = {
        operationId: /^[a-z][A-Za-z]+$/.test(operationId),
        summary: summary !== '',
        'one known tag': operation.tags.length === 1 && tags.includes(operation.tags[0] ?? ''),
        'a description of each parameter': parameters.every(({ description }) => description !== ''),
        'an example of its body': !shown || !requestBody || exampleOf(requestBody.content) !== undefined,
        'an answer of success': success !== undefined,
        'an example of success':
          !shown || success?.status === 204 || exampleOf(success?.response.content) !== undefined,
      }
      return Object.entries(needs).flatMap(([need, isMet]) => (isMet ? [] : `${name} needs ${need}`))
    })
    assert.deepEqual(lacks, [])
    const ids = operations.map(({ operation }) => operation.operationId)
    assert.deepEqual(ids, [...new Set(ids)])
  })

  test('lists the errors that the checks of the interface can lead to', () => {
    for (const { name, path, method, operation, refusals } of operations.filter(({ path }) =>
      path.startsWith('/api/v1/'),
    )) {
      const statuses = refusals.map(({ status }) => status)
      const isForSome = /For keys of role/.test(operation.description)
      const expected = [401, ...(isForSome ? [403] : []), ...(path.includes('{') ? [404] : []), 500]
      for (const status of expected) assert.ok(statuses.includes(status), `${name} needs ${status}`)
      // Bodies are read with every method but GET, also where none is asked for.
      if (method !== 'get') assert.ok(statuses.includes(422), `${name} needs 422`)
      // Signing in is how one comes to a session.
      assert.deepEqual(operation.security, operation.operationId === 'signIn' ? [{ key: [] }] : undefined)
    }
  })

  test('has examples that fit their schemas', () => {
    const schemaAt = schemasOf(document)
    const places = [
      ...operations.flatMap(({ path, method, operation }) => [
        { steps: ['paths', path, method, 'requestBody'], content: operation.requestBody?.content },
        ...Object.entries(operation.responses).map(([status, response]) => ({
          steps: ['paths', path, method, 'responses', status],
          content: '$ref' in response ? undefined : response.content,
        })),
      ]),
      ...Object.entries(document.components.responses).map(([name, { content }]) => ({
        steps: ['components', 'responses', name],
        content,
      })),
    ]
    for (const { steps, content = {} } of places) {
      for (const [type, { examples = {} }] of Object.entries(content)) {
        const fits = schemaAt(...steps, 'content', type, 'schema')
        for (const { value } of Object.values(examples)) {
          assert.ok(fits(value), `${steps.join(' ')}: ${JSON.stringify(fits.errors)}`)
        }
      }
    }
    for (const { name, refusals } of operations) {
      for (const { status, response, example } of refusals) {
        assert.ok(example?.error.code && example.error.message, `${name} ${status} needs an example`)
        assert.ok(JSON.stringify(response).includes('#/components/schemas/'), `${name} ${status} needs the error body`)
      }
    }
  })

  test('says what becomes of a request that is no proper HTTP', async () => {
    await service.app.listen({ port: 0, host: '127.0.0.1' })
    const { port } = service.app.server.address() as AddressInfo
    for (const { path, method, refusals } of operations.filter(({ operation }) => operation.tags[0] === 'Service')) {
      const [status, body] = await new Promise<[number, ErrorBody]>((resolve, reject) => {
        const headers = { 'x-large': 'x'.repeat(20_000) }
        const sent = request({ port, path, method, headers }, async (response) => {
          resolve([response.statusCode ?? 0, JSON.parse((await response.toArray()).join(''))])
        })
        sent.on('error', reject).end()
      })
      assert.equal(status, 422)
      assert.deepEqual(body, refusals.find((refusal) => refusal.status === 422)?.example)
    }
  })
})

/** What is wrong with a request that is refused with the documented 422, where `{}` is a good body or it takes one word of some. */
const mistakes: Record<string, Partial<Prepared>> = {
  createKey: { body: { role: 'king' } },
  rotateKey: { body: { overlap_hours: -1 } },
  listPrompts: { query: { sort: 'age' } },
  listTimeline: { query: { action: 'thought_of' } },
}

/** What has to happen before a request is refused with the documented 409. */
const conflicts: Record<string, (service: TestService, prepared: Prepared, operation: Documented) => Promise<unknown>> =
  {
    connectRepository: (service, prepared, operation) => send(service, operation, prepared),
    syncRepository: disconnect,
    redeliver: disconnect,
    rotateKey: ({ store, now }, { parameters }) => store.keys.revoke(Number(parameters.key_id), now, operator),
  }

async function disconnect({ store, now }: TestService, { parameters }: Prepared): Promise<void> {
  const repository = await store.repositories.find(Number(parameters.repository_id))
  if (repository !== null) await store.repositories.disconnect(repository, now, operator)
}

/** Requests that are refused with the status, if there is a way to bring that about. */
async function provoke(
  service: TestService,
  operation: Documented,
  prepared: Prepared,
  { status, isShared }: { status: number; isShared: boolean },
): Promise<Prepared[]> {
  const { tenant, parameters, query, headers, sign } = prepared
  const { operationId, requestBody } = operation.operation
  switch (status) {
    case 401: {
      const { authorization, 'x-hub-signature-256': signature, ...others } = headers
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
      assert.ok(conflicts[operationId], `how does ${operationId} come to a conflict?`)
      await conflicts[operationId]?.(service, prepared, operation)
      return [prepared]
    case 422: {
      if (isShared) return [{ ...prepared, headers: { 'content-type': 'application/json', ...headers }, body: '' }]
      if (operationId === 'receiveDelivery') {
        const noText = Buffer.from([0xff])
        return [{ ...prepared, headers: sign(noText), body: noText }]
      }
      if (mistakes[operationId] !== undefined) return [{ ...prepared, ...mistakes[operationId] }]
      if (requestBody !== undefined) return [{ ...prepared, body: {} }]
      if (operation.method !== 'get')
        return [{ ...prepared, headers: { 'content-type': 'text/plain', ...headers }, body: 'x' }]
      const names = Object.keys(query).filter((name) => name !== 'page' && name !== 'limit')
      return [{ ...prepared, query: { ...query, ...Object.fromEntries(names.map((name) => [name, 'nonsense'])) } }]
    }
    case 429:
      await tenant.fill(1_000 - (await tenant.used()))
      // A key that was used before would be given its first answer again.
      return [{ ...prepared, headers: { ...headers, 'Idempotency-Key': 'another' } }]
    default:
      return []
  }
}

/** Ids differ from run to run. */
function withoutIds(body: ErrorBody): unknown {
  return JSON.parse(JSON.stringify(body).replaceAll(/(?<=[Kk]ey )\d+/g, '0'))
}

onEachEngine('Documented examples', (engine) => {
  const service = useService(engine)
  let document: Document
  before(async () => {
    document = await readDocument(service)
  })

  test('lead to documented answers', async (context) => {
    const schemaAt = schemasOf(document)
    for (const documented of operationsOf(document)) {
      await context.test(documented.name, async () => {
        const { path, method, success } = documented
        const response = await send(service, documented, await prepare(service, documented))
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
        const fits = schemaAt('paths', path, method, 'responses', String(success.status), 'content', type, 'schema')
        assert.ok(fits(type === 'application/json' ? response.json() : response.body), JSON.stringify(fits.errors))
      })
    }
  })

  test('of errors are what the service says, to the letter', async (context) => {
    for (const documented of operationsOf(document)) {
      if (documented.operation.tags[0] === 'Service') continue
      // What is refused changes nothing, so that one preparation serves all.
      const prepared = await prepare(service, documented)
      // Our own failures are brought about in failure.test.ts.
      for (const refusal of documented.refusals.filter(({ status }) => status < 500)) {
        await context.test(`${documented.name} ${refusal.status}`, async () => {
          const requests = await provoke(service, documented, prepared, refusal)
          assert.ok(requests.length > 0, 'there is no way to bring this about')
          for (const request of requests) {
            const response = await send(service, documented, request)
            assert.equal(response.statusCode, refusal.status, response.body)
            assert.deepEqual(withoutIds(response.json()), withoutIds(refusal.example))
            for (const header of Object.keys(refusal.response.headers ?? {})) {
              assert.ok(response.headers[header.toLowerCase()] !== undefined, `${header} is missing`)
            }
          }
        })
      }
    }
  })
})
