import assert from 'node:assert/strict'
import type { AddressInfo, Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { onEachEngine, sqlite } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { type Random, seededRandom } from '../../../testing/random.ts'
import { queryRows } from '../../../testing/rows.ts'
import { deployedEntry, openTestStore, type Tenant, TestService, takeOverFlush } from '../../../testing/service.ts'
import { openSocket } from '../../../testing/socket.ts'
import { generateSecret, newApiKey } from '../../src/domain/access/api-key.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { newHistoryEntry } from '../../src/domain/history/entry.ts'
import { newPrompt, type Prompt } from '../../src/domain/prompt.ts'

const signalsOf = (url: string, organisationId: number) =>
  queryRows(url, `select * from signals where organisation_id = ${organisationId} order by id`)
const auditOf = (url: string, organisationId: number) =>
  queryRows(url, `select action from audit where organisation_id = ${organisationId} order by id`)

const nothing = { reads: 0, writes: 0, strangers: 0, bodyBytes: 0, unknownBytes: 0 }

/** A service on a real port, with what its metrics would count. */
class ListeningService extends TestService {
  responses: string[] = []
  #routes: string[] = []
  override observer = {
    route: (method: string, pattern: string) => this.#routes.push(`${method} ${pattern}`) - 1,
    responded: (route: number, status: number) => void this.responses.push(`${this.#routes[route]} ${status}`),
  }
  port = 0
  #sockets: Socket[] = []
  /** How many requests Fastify has authorised. */
  byFramework = 0

  async listen(engine: Parameters<TestService['open']>[0]): Promise<void> {
    await this.open(engine)
    const { refresh } = this.store
    this.store.refresh = () => {
      this.byFramework++
      return refresh()
    }
    await this.app.listen({ port: 0, host: '127.0.0.1' })
    this.port = (this.app.server.address() as AddressInfo).port
  }

  override async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await super.close()
  }

  /** Sends requests one after the other over one connection. Returns each response as it came. */
  async connection(): Promise<(parts: (string | Buffer)[]) => Promise<string>> {
    const socket = await openSocket(this.port)
    this.#sockets.push(socket)
    return async (parts) => {
      let received = ''
      const response = new Promise<void>((resolve, reject) => {
        const onClose = () => reject(new Error(`closed after ${JSON.stringify(received)}`))
        socket.once('close', onClose)
        socket.on('data', function onData(chunk) {
          received += chunk.toString('latin1')
          const end = received.indexOf('\r\n\r\n')
          if (end === -1) return
          const length = parts[0]?.toString().startsWith('HEAD')
            ? 0
            : Number(/content-length: (\d+)/i.exec(received)?.[1])
          if (received.length < end + 4 + length) return
          socket.off('data', onData).off('close', onClose)
          resolve()
        })
      })
      for (const [i, part] of parts.entries()) {
        // A part of its own reaches the service after the part before it has been parsed.
        if (i > 0) await new Promise((resolve) => setImmediate(resolve))
        socket.write(part)
      }
      await response
      return received
    }
  }
}

function post({ path, key }: Tenant, body: string, headers = ''): string[] {
  return [
    `POST ${path}/signals HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n` +
      `${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  ]
}

function get({ path, key }: Tenant, query = ''): string[] {
  return [`GET ${path}/history${query} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`]
}

const statusOf = (response: string) => Number(response.slice(9, 12))
const bodyOf = (response: string) => JSON.parse(response.slice(response.indexOf('\r\n\r\n') + 4))

for (const path of ['the short path', 'Fastify'] as const) {
  onEachEngine(`The two operations of the contract, answered by ${path}`, (engine) => {
    const service = new ListeningService()
    service.shortPath = path === 'the short path'
    before(() => service.listen(engine))
    after(() => service.close())

    test('a signal is stored with its metadata, and the response says how much of the limit is left', async () => {
      const tenant = await service.tenant()
      const send = await service.connection()
      // The first request of a key is always answered by Fastify.
      await send(post(tenant, '{"value":"negative"}'))
      const before = service.byFramework
      const response = await send(post(tenant, '{"value":"positive","metadata":{"user":12345678901234567890}}'))
      assert.equal(statusOf(response), 201)
      assert.match(response, /ratelimit-limit: 1000\r\nratelimit-remaining: 998\r\n/)
      assert.equal(bodyOf(response).data.created_at, new Date(service.now).toISOString())
      const [, stored] = await signalsOf(service.url, tenant.organisation.id)
      assert.equal(stored?.metadata, '{"user":12345678901234567890}')
      assert.equal(service.byFramework - before, path === 'Fastify' ? 1 : 0)
      assert.deepEqual(service.app.loadShedder.inFlight(), nothing)
    })

    test('concurrent signals are recorded up to the monthly limit exactly, and the others get 429', async () => {
      const tenant = await service.tenant()
      await tenant.fillMonth(960)
      const connections = await Promise.all(Array.from({ length: 20 }, () => service.connection()))
      const statuses: number[] = []
      const work = connections.map(async (send) => {
        for (let i = 0; i < 5; i++) statuses.push(statusOf(await send(post(tenant, '{"value":"positive"}'))))
      })
      await Promise.all(work)
      assert.equal(statuses.filter((status) => status === 201).length, 40)
      assert.equal(statuses.filter((status) => status === 429).length, 60)
      assert.equal(await tenant.used(), 1_000)
    })

    test('a repeated request with the same Idempotency-Key is recorded once', async () => {
      const tenant = await service.tenant()
      const send = await service.connection()
      const key = 'Idempotency-Key: a\r\n'
      const first = bodyOf(await send(post(tenant, '{"value":"positive"}', key)))
      assert.deepEqual(bodyOf(await send(post(tenant, '{"value":"positive"}', key))), first)
      assert.equal(statusOf(await send(post(tenant, '{"value":"negative"}', key))), 422)
      assert.equal(await tenant.used(), 1)
    })

    test('a page of history has what was recorded before the request', async () => {
      const tenant = await service.tenant()
      const send = await service.connection()
      for (let count = 0; count < 3; count++) {
        const { data, pagination } = bodyOf(await send(get(tenant)))
        assert.equal(data.length, count)
        assert.equal(pagination.total_count, count)
        assert.deepEqual(bodyOf(await send(get(tenant))), { data, pagination })
        await tenant.recordEntry({ commitSha: `a${count}`.repeat(20) })
      }
      const second = bodyOf(await send(get(tenant, '?page=2&limit=2')))
      assert.deepEqual([second.data.length, second.pagination.current_page], [1, 2])
    })

    test('a key that another process revokes is rejected, and the rejection is in the audit log', async (t) => {
      const tenant = await service.tenant()
      const send = await service.connection()
      for (let i = 0; i < 2; i++) assert.equal(statusOf(await send(get(tenant))), 200)
      const other = await openTestStore(service.url, () => service.now)
      t.after(() => other.close())
      const [key] = await other.keys.list(tenant.organisation.id)
      await other.keys.revoke(key?.id as number, service.now, operator)
      await eventually(async () => statusOf(await send(get(tenant))) === 401)
      assert.equal(statusOf(await send(post(tenant, '{"value":"positive"}'))), 401)
      await service.app.auditThrottle.flush(true)
      const actions = (await auditOf(service.url, tenant.organisation.id)).map(({ action }) => action)
      assert.ok(actions.includes('key.rejected'), actions.join())
    })

    test('an expired key is rejected at the moment that it expires', async () => {
      const tenant = await service.tenant()
      const secret = await service.key(tenant.organisation, 'standard', service.now + 1_000)
      const expiring = Object.assign(Object.create(tenant), { key: secret }) as Tenant
      const send = await service.connection()
      for (let i = 0; i < 2; i++) assert.equal(statusOf(await send(get(expiring))), 200)
      service.now += 1_000
      assert.equal(statusOf(await send(get(expiring))), 401)
    })

    test('the prompt of another organisation, and a role that may not do this, are rejected', async () => {
      const tenant = await service.tenant()
      const stranger = Object.assign(Object.create(await service.tenant()), { prompt: tenant.prompt }) as Tenant
      const ingest = Object.assign(Object.create(tenant), {
        key: await service.key(tenant.organisation, 'ingest'),
      }) as Tenant
      const send = await service.connection()
      for (let i = 0; i < 2; i++) {
        assert.equal(statusOf(await send(get(tenant))), 200)
        assert.equal(statusOf(await send(get(stranger))), 404)
        assert.equal(statusOf(await send(post(ingest, '{"value":"positive"}'))), 201)
        assert.equal(statusOf(await send(get(ingest))), 403)
      }
    })

    test('a deleted prompt is gone with the next request', async () => {
      const tenant = await service.tenant()
      const send = await service.connection()
      for (let i = 0; i < 2; i++) assert.equal(statusOf(await send(post(tenant, '{"value":"positive"}'))), 201)
      await service.store.prompts.delete(tenant.prompt, service.now, operator)
      assert.equal(statusOf(await send(post(tenant, '{"value":"positive"}'))), 404)
    })

    test('every response is counted by its route and status, and the key was used', async () => {
      const tenant = await service.tenant()
      const send = await service.connection()
      service.responses = []
      for (let i = 0; i < 2; i++) {
        service.now += 1_000
        await send(post(tenant, '{"value":"positive"}'))
        await send(post(tenant, '{"value":"perhaps"}'))
        await send(get(tenant))
      }
      const once = [
        'POST /api/v1/prompts/:prompt_id/signals 201',
        'POST /api/v1/prompts/:prompt_id/signals 422',
        'GET /api/v1/prompts/:prompt_id/history 200',
      ]
      assert.deepEqual(service.responses, [...once, ...once])
      await service.lastUsed.flush()
      const [key] = await service.store.keys.list(tenant.organisation.id)
      assert.equal(key?.lastUsedAt, service.now)
    })

    test('more requests of an organisation than may be at work at once are all served', async () => {
      const tenant = await service.tenant('team')
      const connections = await Promise.all(Array.from({ length: 100 }, () => service.connection()))
      const work = connections.map(async (send) => {
        for (let i = 0; i < 5; i++) assert.equal(statusOf(await send(post(tenant, '{"value":"positive"}'))), 201)
      })
      await Promise.all(work)
      assert.equal(await tenant.used(), 500)
      assert.deepEqual(service.app.loadShedder.inFlight(), nothing)
    })
  })
}

interface Twin {
  service: ListeningService
  send: (parts: (string | Buffer)[]) => Promise<string>
  prompt: Prompt
}

type Name = (typeof names)[number]

const names = ['standard', 'ingest', 'reader', 'revoked', 'expiring', 'unknown', 'stranger'] as const

describe('Random requests', () => {
  const secrets = Object.fromEntries(names.map((name) => [name, generateSecret()])) as Record<Name, string>
  const publicId = 'pmt_0123456789abcdefABCDEFgh'
  const twins: Twin[] = []
  let etag = ''

  async function open(shortPath: boolean): Promise<Twin> {
    const service = new ListeningService()
    service.shortPath = shortPath
    service.planLimits.free = 25
    await service.listen(sqlite)
    // Only at the end, because the entries of the audit log depend on when it is written.
    takeOverFlush(service)
    const organisation = await service.organisation()
    const other = await service.organisation()
    const add = async (name: Name, role: 'standard' | 'ingest' | 'reader', expiresAt: number | null = null) => {
      const organisationId = name === 'stranger' ? other.id : organisation.id
      const key = { organisationId, name, role, createdAt: service.now, expiresAt }
      return service.store.keys.create(newApiKey(secrets[name], key), operator)
    }
    await add('standard', 'standard')
    await add('ingest', 'ingest')
    await add('reader', 'reader')
    await add('stranger', 'standard')
    await add('expiring', 'standard', service.now + 40_000)
    const { id } = await add('revoked', 'standard')
    await service.store.keys.revoke(id, service.now, operator)
    const prompt = await service.store.prompts.create(
      { ...newPrompt(organisation.id, 'prompts/a.md', service.now), publicId },
      operator,
    )
    await service.store.liveTexts.updateSettings(organisation.id, { enabled: true }, service.now, operator)
    const live = { promptId: prompt.id, entryId: 1, commitSha: '1'.repeat(40), blob: '2'.repeat(40), text: 'Be kind.' }
    await service.store.liveTexts.replace(organisation.id, [live], 2 ** 30)
    let connection = await service.connection()
    const send = async (parts: (string | Buffer)[]) => {
      const response = await connection(parts)
      if (/\r\nconnection: close\r\n/i.test(response)) connection = await service.connection()
      return response
    }
    return { service, send, prompt }
  }
  before(async () => {
    for (const shortPath of [true, false]) twins.push(await open(shortPath))
    for (const { send } of twins) {
      const authorization = `Authorization: Bearer ${secrets.standard}`
      const response = await send([`GET /api/v1/delivery HTTP/1.1\r\nHost: a\r\n${authorization}\r\n\r\n`])
      etag = /\r\netag: ([^\r]+)/.exec(response)?.[1] as string
    }
  })
  after(async () => {
    for (const { service } of twins) await service.close()
  })

  const pick = <T>(random: Random, items: readonly T[]): T => items[Math.floor(random() * items.length)] as T

  function randomBody(random: Random): string | Buffer {
    const value = pick(random, ['"positive"', '"negative"'])
    const number = Math.floor(random() * 5)
    return pick<() => string | Buffer>(random, [
      () => `{"value":${value}}`,
      () => `{"value":${value},"metadata":{"n":${random()},"text":"ü\\u00e4 ${number}"}}`,
      () => ` {"metadata" : null, "value":${value}, "unknown":[1,{}]} `,
      () => `{"value":"positive","value":${value},"metadata":{"a":1},"metadata":{"__proto__":2}}`,
      () => `{"value":${value},"subject":"answer-${number}","version":"8f3a1c5","comment":"so so"}`,
      () => `{"value":null,"subject":"answer-${number}"}`,
      () => `{"value":${value},"voter":"ada","occurred_at":"2026-11-15T11:00:00Z"}`,
      () => `{"value":${value},"metadata":{"promptledger_version":"v${number}"}}`,
      () =>
        pick(random, [
          '{"value":"maybe"}',
          '{}',
          '[]',
          '1',
          '',
          ' ',
          '{"value":',
          '{"value":null}',
          '{"value":"positive"}x',
        ]),
      () =>
        pick(random, [
          '{"value":"positive","metadata":[]}',
          '{"value":"positive","subject":""}',
          '{"value":"positive","comment":7}',
        ]),
      () => `{"value":${value},"metadata":{"long":"${'x'.repeat(pick(random, [100, 16_000, 17_000, 65_000]))}"}}`,
      () => `{"value":${value},"metadata":{"deep":${'['.repeat(80)}${']'.repeat(80)}}}`,
      () => Buffer.from([...Buffer.from(`{"value":${value},"metadata":{"a":"`), 0xff, ...Buffer.from('"}}')]),
    ])()
  }

  function randomRequest(random: Random): (string | Buffer)[] {
    const isOrdinary = random() < 0.6
    const unusual = <T>(items: readonly T[], usual: T): T =>
      isOrdinary || random() < 0.5 ? usual : pick(random, items)
    const method = random() < 0.1 ? pick(random, ['HEAD', 'PUT', 'DELETE']) : pick(random, ['GET', 'POST'])
    const reference = unusual(['pmt_unknown', 'prompts%2Fa.md', 'pmt_%zz', `${publicId}/`, ''], publicId)
    const operation =
      method === 'GET' || method === 'HEAD'
        ? `history${pick(random, ['', '', '?page=1&limit=2', '?limit=3&page=2', '?page=0', '?limit=1000', '?page=1&page=2', '?page=x', '?page=1&a=b', '#a'])}`
        : `signals${unusual(['?a=b', '/', '#'], '')}`
    const secret =
      secrets[isOrdinary ? pick<Name>(random, ['standard', 'standard', 'ingest', 'expiring']) : pick(random, names)]
    const authorization = unusual([`bearer   ${secret}`, `Basic ${secret}`, secret, 'Bearer ', ''], `Bearer ${secret}`)
    const isPoll = method === 'GET' && random() < 0.4
    const globs = ['?prompts=**', '?prompts=%2A%2A', '?prompts=**&prompts=**', '?prompts=', '?a=b', '#a']
    const known = unusual([['If-None-Match: "a"'], []], [`If-None-Match: ${etag}`])
    const path = isPoll ? `delivery${unusual(globs, '')}` : `prompts/${reference}/${operation}`
    const lines = [
      `${method} ${unusual(['http://a/', '//'], '/')}api/v1/${path} HTTP/1.1`,
      'Host: a',
      ...(isPoll ? known : []),
      ...(authorization === '' ? [] : [`Authorization: ${authorization}`]),
      ...unusual(
        [
          ['X-Request-Id: given-1'],
          ['X-Request-Id: not valid'],
          ['Expect: miracles'],
          ['Cookie: a=b'],
          ['Connection: keep-alive'],
        ],
        [],
      ),
    ]
    if (method === 'GET' || method === 'HEAD') {
      const body = unusual(['Content-Length: 0\r\n', 'Content-Length: 2\r\n'], '')
      return [`${lines.join('\r\n')}\r\n${body}\r\n${body.includes('2') ? '{}' : ''}`]
    }
    const body = Buffer.from(randomBody(random))
    lines.push(
      ...unusual(
        [
          ['Content-Type: text/plain'],
          ['Content-Type: application/json; charset=utf-8'],
          ['content-type: Application/JSON'],
          [],
        ],
        ['Content-Type: application/json'],
      ),
      ...pick(random, [
        [],
        [],
        [],
        ['Idempotency-Key: k1'],
        ['Idempotency-Key: k2'],
        ['Idempotency-Key: not valid'],
        ['Traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'],
      ]),
    )
    const isChunked = body.length > 0 && unusual([true], false)
    const head = `${[...lines, isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`].join('\r\n')}\r\n\r\n`
    const sent = isChunked
      ? Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')])
      : body
    return unusual([true], false) ? [head, sent] : [Buffer.concat([Buffer.from(head), sent])]
  }

  /** Without the time, and the part of generated request IDs that differs between processes. */
  function comparable(response: string): string {
    return response
      .replace(/\r\nDate: [^\r]+/, '')
      .replace(/(\r\nx-request-id: )[0-9A-Za-z]{8}(-[0-9a-z]+\r\n)/, '$1$2')
  }

  test('get the same bytes from the short path and from Fastify, and leave the same behind', async () => {
    const random = seededRandom(35)
    const statuses = new Map<string, number>()
    let short = 0
    for (let i = 0; i < 700; i++) {
      if (random() < 0.02) {
        const entry = newHistoryEntry({
          ...deployedEntry((twins[0] as Twin).service.now),
          commitSha: String(1_000 + i).repeat(10),
        })
        for (const { service, prompt } of twins)
          await service.store.history.record(prompt, entry, service.now, operator)
      }
      if (random() < 0.1) for (const { service } of twins) service.now += 1_000
      const request = randomRequest(random)
      const before = (twins[0] as Twin).service.byFramework
      const [ours, theirs] = await Promise.all(twins.map(async ({ send }) => comparable(await send(request))))
      const description = JSON.stringify(request.map((part) => part.toString('latin1').slice(0, 600)))
      assert.equal(ours, theirs, description)
      if ((twins[0] as Twin).service.byFramework === before) {
        short++
        const status = (ours as string).slice(9, 12)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
    }
    // Enough of them must have taken the short path for this to mean anything.
    assert.ok(short > 200, `${short} of them`)
    for (const status of ['200', '201', '304', '422', '429'])
      assert.ok((statuses.get(status) ?? 0) >= 5, `${status}: ${statuses.get(status)}`)
    const left = await Promise.all(
      twins.map(async ({ service, prompt }) => {
        await service.app.auditThrottle.flush(true)
        await service.lastUsed.flush()
        const keys = await service.store.keys.list(prompt.organisationId)
        return {
          signals: (await signalsOf(service.url, prompt.organisationId)).map(({ voter, ...signal }) => signal),
          responses: service.responses,
          audit: (await auditOf(service.url, prompt.organisationId)).map(({ action }) => action),
          used: keys.map(({ name, lastUsedAt }) => ({ name, lastUsedAt })),
          inFlight: { ...service.app.loadShedder.inFlight() },
          log: service.log
            .map((line) => JSON.parse(line))
            .map(({ msg, method, route, status }) => ({ msg, method, route, status })),
        }
      }),
    )
    assert.deepEqual(left[0], left[1])
    assert.deepEqual(left[0]?.inFlight, nothing)
  })
})
