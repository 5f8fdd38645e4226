import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { postgres, serverUrl, sqlite } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { sampleClient, startServe } from '../../../testing/processes.ts'
import { TestService } from '../../../testing/service.ts'
import { startTcpProxy } from '../../../testing/tcp-proxy.ts'
import { closeStalledConnections } from '../../src/store/postgres/stalled-connections.ts'

const maxWrites = 2_000
const maxReads = 2_000
// One tenant may fill the whole process here: server/test/http/tenant-limits.test.ts has the limits of each.
const wholeProcess = { organisationShare: 100, keyShare: 100, organisationConcurrency: 32 }
const nothing = { reads: 0, writes: 0, strangers: 0, bodyBytes: 0, unknownBytes: 0 }

describe('While another process locks the SQLite file', () => {
  const service = new TestService()
  service.limits = wholeProcess
  before(() => service.open(sqlite))
  after(() => service.close())

  test('signals queue up to the limit, further ones are rejected unread, and reads and health checks are served', async () => {
    const tenant = await service.tenant('team')
    const release = await holdSqlite(service.url)
    await service.app.listen({ port: 0, host: '127.0.0.1' })
    const waiting = Array.from({ length: maxWrites }, () => tenant.signal({ value: 'positive' }))
    await eventually(() => service.app.loadShedder.inFlight().writes === maxWrites)

    const head = await responseTo(
      service,
      `POST ${tenant.path}/signals HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${tenant.key}\r\n` +
        'Content-Type: application/json\r\nContent-Length: 60000\r\n\r\n{',
    )
    assert.match(head, /^HTTP\/1\.1 500 /)
    assert.match(head, /\r\nretry-after: \d+\r\n/i)
    assert.match(head, /\r\nx-request-id: \S+\r\n/i)
    assert.match(head, /\{"error":\{"code":"internal_error","message":"[^"]+"\}\}$/)
    assert.equal((await tenant.history()).statusCode, 200)
    assert.equal((await service.app.inject('/healthz')).statusCode, 200)
    assert.equal(service.app.loadShedder.rejected().writes, 1)
    assert.equal(service.log.filter((line) => line.includes('overload')).length, 1)
    assert.equal(service.log.filter((line) => line.includes('request failed')).length, 0)

    release()
    for (const { statusCode } of await Promise.all(waiting)) assert.equal(statusCode, 201)
    assert.equal(await tenant.used(), maxWrites)
    assert.equal((await tenant.signal({ value: 'positive' })).statusCode, 201)
    assert.deepEqual(service.app.loadShedder.inFlight(), nothing)
  })

  test('a connection whose request was rejected is not read again for a moment', async () => {
    const tenant = await service.tenant('team')
    const release = await holdSqlite(service.url)
    const waiting = Array.from({ length: maxWrites }, () => tenant.signal({ value: 'positive' }))
    await eventually(() => service.app.loadShedder.inFlight().writes === maxWrites)
    const socket = connect((service.app.server.address() as AddressInfo).port, '127.0.0.1')
    const body = '{"value":"positive"}'
    const request =
      `POST ${tenant.path}/signals HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${tenant.key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    // When the service had responded: this test may learn of that late, after part of the pause.
    let respondedAt = Number.NaN
    service.app.server.once('request', (_request, response: ServerResponse) => {
      response.once('finish', () => {
        respondedAt = performance.now()
      })
    })
    socket.write(request)
    await once(socket, 'data')
    socket.write(request)
    await once(socket, 'data')
    assert.ok(performance.now() - respondedAt > 300)
    socket.destroy()
    release()
    await Promise.all(waiting)
  })

  test('clients that disconnect at any point free their place', async () => {
    const tenant = await service.tenant('team')
    const release = await holdSqlite(service.url)
    const start = `POST ${tenant.path}/signals HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${tenant.key}\r\nContent-Type: application/json\r\n`
    const whole = `${start}Content-Length: 20\r\n\r\n{"value":"positive"}`
    const left = [
      `${start}Content-Length: 20\r\n\r\n`,
      `${start}Content-Length: 20\r\n\r\n{"value":`,
      `${start}Transfer-Encoding: chunked\r\n\r\n5\r\n{"val`,
      `${start}Expect: 100-continue\r\nContent-Length: 20\r\n\r\n`,
      whole,
      whole + whole + whole,
      `GET ${tenant.path}/history HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${tenant.key}\r\n\r\n`,
      'GET /api/v1/nowhere HTTP/1.1\r\nHost: a\r\n\r\n',
    ]
    const { port } = service.app.server.address() as AddressInfo
    for (const wait of [0, 1, 20]) {
      for (const bytes of left) {
        const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
        socket.on('error', () => {})
        await once(socket, 'connect')
        await delay(wait)
        socket.resetAndDestroy()
      }
    }
    release()
    await eventually(async () => assert.equal(await openConnections(service), 0))
    await eventually(() => assert.deepEqual(service.app.loadShedder.inFlight(), nothing))
  })

  test('request bodies are accepted only within the memory budget', async () => {
    const tenant = await service.tenant('team', 'admin')
    const release = await holdSqlite(service.url)
    const metadata = { text: 'x'.repeat(16_000), more: null }
    const ignored = 'y'.repeat(47_000)
    const responses = Array.from({ length: 900 }, () => tenant.signal({ value: 'positive', metadata, ignored }))
    await eventually(() => service.app.loadShedder.rejected().bodies > 0)
    await eventually(() => assert.ok(service.app.loadShedder.inFlight().bodyBytes > 23 * 1024 * 1024))
    const { bodyBytes } = service.app.loadShedder.inFlight()
    assert.ok(bodyBytes <= 24 * 1024 * 1024, `${bodyBytes} bytes`)
    release()
    const statuses = (await Promise.all(responses)).map(({ statusCode }) => statusCode)
    assert.equal(statuses.filter((status) => status === 201).length, await tenant.used())
    assert.ok(statuses.every((status) => status === 201 || status === 500))
    // A body over the size limit is the client's mistake: 422, not an overload.
    const head = `POST ${tenant.path}/signals HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 99999999\r\n`
    assert.match(await responseTo(service, `${head}\r\n{`), /^HTTP\/1\.1 401 /)
    assert.match(await responseTo(service, `${head}Authorization: Bearer ${tenant.key}\r\n\r\n{`), /^HTTP\/1\.1 422 /)
    assert.deepEqual(service.app.loadShedder.inFlight(), nothing)
  })
})

describe('While PostgreSQL answers no lookup', () => {
  const service = new TestService()
  service.limits = wholeProcess
  before(() => service.open(postgres))
  after(() => service.close())

  test('admin keys can still read where other keys are rejected', async () => {
    const tenant = await service.tenant('team', 'standard')
    const admin = await service.key(tenant.organisation, 'admin')
    const client = new pg.Client({ connectionString: service.url })
    await client.connect()
    await client.query('begin; lock table change_counter in access exclusive mode')
    const reads = Array.from({ length: maxReads + 100 }, () => tenant.history())
    const adminRead = service.app.inject({
      url: `${tenant.path}/history`,
      headers: { authorization: `Bearer ${admin}` },
    })
    const rest = Array.from({ length: 200 }, () => tenant.history())
    await eventually(() => service.app.loadShedder.inFlight().reads === maxReads + 200)
    assert.equal((await service.app.inject('/healthz')).statusCode, 200)
    await client.query('rollback')
    await client.end()
    assert.equal((await adminRead).statusCode, 200)
    const statuses = (await Promise.all([...reads, ...rest])).map(({ statusCode }) => statusCode)
    assert.equal(statuses.filter((status) => status === 200).length, maxReads)
    assert.equal(statuses.filter((status) => status === 500).length, 300)
    assert.deepEqual(service.app.loadShedder.inFlight(), nothing)
  })

  test('strangers who announce large bodies leave room for those of others', async () => {
    const tenant = await service.tenant('team', 'standard')
    const client = new pg.Client({ connectionString: service.url })
    await client.connect()
    await client.query('begin; lock table change_counter in access exclusive mode')
    const { loadShedder } = service.app
    const payload = Buffer.alloc(2_000_000)
    const announce = (url: string, type: string) =>
      service.app.inject({
        method: 'POST',
        url,
        headers: { authorization: 'Bearer plk_x', 'content-type': type },
        payload,
      })
    const strangers = Array.from({ length: 10 }, () => [
      announce('/v1/traces', 'application/x-protobuf'),
      announce('/api/v1/signals', 'application/json'),
    ]).flat()
    await eventually(() => assert.equal(loadShedder.inFlight().writes, strangers.length))
    const signal = tenant.signal({ value: 'positive' })
    assert.equal(loadShedder.rejected().bodies, 0)
    await client.query('rollback')
    await client.end()
    assert.equal((await signal).statusCode, 201)
    for (const { statusCode } of await Promise.all(strangers)) assert.equal(statusCode, 401)
    assert.deepEqual(loadShedder.inFlight(), nothing)
  })
})

describe('A PostgreSQL that stops responding without closing its connections', () => {
  test('requests fail within seconds, then at once, and the service recovers with PostgreSQL', async () => {
    const database = await postgres.create()
    const proxy = await startTcpProxy(database.url)
    const service = await startServe({ DATABASE_URL: proxy.url })
    const sample = sampleClient(service)
    assert.equal((await sample.signal()).status, 201)
    proxy.stall(true)
    const start = performance.now()
    const first = await sample.history()
    const waited = performance.now() - start
    assert.equal(first.status, 500)
    // Statements that no request waits for may take 30 s.
    assert.ok(waited > 4_000 && waited < 20_000, `waited ${waited} ms`)
    const probe = sample.history()
    await eventually(async () => {
      const rejectedAt = performance.now()
      const rejected = await sample.signal()
      assert.equal(rejected.status, 500)
      assert.match(rejected.headers.get('retry-after') ?? '', /^\d+$/)
      assert.ok(performance.now() - rejectedAt < 2_000)
    })
    assert.equal((await fetch(`${service.address}/healthz`)).status, 200)
    proxy.stall(false)
    await probe
    // Work in the background may be the first to find that PostgreSQL is back.
    await eventually(async () => assert.equal((await sample.signal()).status, 201))
    assert.equal((await sample.history()).status, 200)
    await service.stop()
    await proxy.close()
  })

  test('its connections are closed, so the pool has room for new ones', async () => {
    const proxy = await startTcpProxy(serverUrl())
    const pool = new pg.Pool({ connectionString: proxy.url, max: 1 })
    pool.on('error', () => {})
    pool.on('connect', (client) => client.on('error', () => {}))
    const watch = closeStalledConnections(pool, 2_500)
    await pool.query('select 1')
    // A slow query is left alone as long as bytes arrive. Each row is larger than the buffer that PostgreSQL collects rows in.
    await pool.query("select repeat('x', 10000), pg_sleep(0.5) from generate_series(1, 8)")
    proxy.stall(true)
    await assert.rejects(pool.query('select 1'), /has not responded|terminated/)
    proxy.stall(false)
    assert.equal((await pool.query('select 2 as two')).rows[0]?.two, 2)
    const busy = await pool.connect()
    watch.exempt(busy)
    await busy.query('select pg_sleep(4.5)')
    busy.release()
    watch.stop()
    await pool.end()
    await proxy.close()
  })
})

/** Locks the file against writers, as another process would; returns a function that releases it. */
async function holdSqlite(url: string): Promise<() => void> {
  const { DatabaseSync } = await import('node:sqlite')
  const holder = new DatabaseSync(url.slice('sqlite:'.length))
  holder.exec('begin immediate')
  return () => {
    holder.exec('rollback')
    holder.close()
  }
}

function openConnections({ app }: TestService): Promise<number> {
  return new Promise((resolve, reject) => {
    app.server.getConnections((error, count) => (error ? reject(error) : resolve(count)))
  })
}

/** Sends raw bytes on a new connection and returns the first chunk of the response. */
async function responseTo(service: TestService, bytes: string): Promise<string> {
  const socket = connect((service.app.server.address() as AddressInfo).port, '127.0.0.1', () => socket.write(bytes))
  const [chunk] = await once(socket, 'data')
  socket.destroy()
  return String(chunk)
}
