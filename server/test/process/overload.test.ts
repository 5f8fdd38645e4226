import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { sampleOf, startServe } from '../../../testing/command.ts'
import { postgres, serverUrl, sqlite } from '../../../testing/engines.ts'
import { TestService } from '../../../testing/service.ts'
import { startSilentProxy } from '../../../testing/silent-proxy.ts'
import { endSilent } from '../../src/store/postgres/silence.ts'

const mostWrites = 2_000
const mostReads = 2_000

describe('While signals wait for a database that another process holds', () => {
  const service = new TestService()
  before(() => service.open(sqlite))
  after(() => service.close())

  test('as many are taken on as there is room for, others refused unread; reads and health are answered', async () => {
    const tenant = await service.tenant('team')
    const release = await holdSqlite(service.url)
    await service.app.listen({ port: 0, host: '127.0.0.1' })
    const waiting = Array.from({ length: mostWrites }, () => tenant.signal({ value: 'positive' }))
    await until(() => service.app.admission.inFlight().writes === mostWrites)

    const head = await answerTo(
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
    assert.equal(service.app.admission.rejected().writes, 1)
    assert.equal(service.log.filter((line) => line.includes('overload')).length, 1)
    assert.equal(service.log.filter((line) => line.includes('request failed')).length, 0)

    release()
    for (const { statusCode } of await Promise.all(waiting)) assert.equal(statusCode, 201)
    assert.equal(await tenant.used(), mostWrites)
    assert.equal((await tenant.signal({ value: 'positive' })).statusCode, 201)
    assert.deepEqual(service.app.admission.inFlight(), { reads: 0, writes: 0, bodyBytes: 0 })
  })

  test('whoever was refused and asks again at once is not listened to for a while', async () => {
    const tenant = await service.tenant('team')
    const release = await holdSqlite(service.url)
    const waiting = Array.from({ length: mostWrites }, () => tenant.signal({ value: 'positive' }))
    await until(() => service.app.admission.inFlight().writes === mostWrites)
    const socket = connect((service.app.server.address() as AddressInfo).port, '127.0.0.1')
    const body = '{"value":"positive"}'
    const request =
      `POST ${tenant.path}/signals HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${tenant.key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    socket.write(request)
    await once(socket, 'data')
    const start = performance.now()
    socket.write(request)
    await once(socket, 'data')
    assert.ok(performance.now() - start > 300)
    socket.destroy()
    release()
    await Promise.all(waiting)
  })

  test('clients that leave in the middle of anything take up no room', async () => {
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
        await pause(wait)
        socket.resetAndDestroy()
      }
    }
    await pause(50)
    release()
    await until(() => service.app.admission.inFlight().writes === 0)
    assert.deepEqual(service.app.admission.inFlight(), { reads: 0, writes: 0, bodyBytes: 0 })
  })

  test('bodies are taken on only as long as there is memory for them', async () => {
    const tenant = await service.tenant('team', 'admin')
    const release = await holdSqlite(service.url)
    const metadata = { text: 'x'.repeat(16_000), more: null }
    const ignored = 'y'.repeat(47_000)
    const answers = Array.from({ length: 900 }, () => tenant.signal({ value: 'positive', metadata, ignored }))
    await until(() => service.app.admission.inFlight().bodyBytes > 47 * 1024 * 1024)
    await pause(50)
    assert.ok(service.app.admission.inFlight().bodyBytes <= 48 * 1024 * 1024)
    assert.ok(service.app.admission.rejected().bodies > 0)
    release()
    const statuses = (await Promise.all(answers)).map(({ statusCode }) => statusCode)
    assert.equal(statuses.filter((status) => status === 201).length, await tenant.used())
    assert.ok(statuses.every((status) => status === 201 || status === 500))
    // One that is too large by itself is the caller's mistake, not ours.
    const head = `POST ${tenant.path}/signals HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 99999999\r\n`
    assert.match(await answerTo(service, `${head}\r\n{`), /^HTTP\/1\.1 401 /)
    assert.match(await answerTo(service, `${head}Authorization: Bearer ${tenant.key}\r\n\r\n{`), /^HTTP\/1\.1 422 /)
    assert.deepEqual(service.app.admission.inFlight(), { reads: 0, writes: 0, bodyBytes: 0 })
  })
})

describe('While nothing can be looked up', () => {
  const service = new TestService()
  before(() => service.open(postgres))
  after(() => service.close())

  test('admins read on where others are refused', async () => {
    const tenant = await service.tenant('team', 'standard')
    const admin = await service.key(tenant.organisation, 'admin')
    const client = new pg.Client({ connectionString: service.url })
    await client.connect()
    await client.query('begin; lock table change_counter in access exclusive mode')
    const reads = Array.from({ length: mostReads + 100 }, () => tenant.history())
    const adminRead = service.app.inject({
      url: `${tenant.path}/history`,
      headers: { authorization: `Bearer ${admin}` },
    })
    const rest = Array.from({ length: 200 }, () => tenant.history())
    await until(() => service.app.admission.inFlight().reads === mostReads + 200)
    assert.equal((await service.app.inject('/healthz')).statusCode, 200)
    await client.query('rollback')
    await client.end()
    assert.equal((await adminRead).statusCode, 200)
    const statuses = (await Promise.all([...reads, ...rest])).map(({ statusCode }) => statusCode)
    assert.equal(statuses.filter((status) => status === 200).length, mostReads)
    assert.equal(statuses.filter((status) => status === 500).length, 300)
    assert.deepEqual(service.app.admission.inFlight(), { reads: 0, writes: 0, bodyBytes: 0 })
  })
})

describe('A PostgreSQL that falls silent without closing its connections', () => {
  test('makes nobody wait for more than seconds, then nobody at all; the service is well again with it', async () => {
    const database = await postgres.create()
    const proxy = await startSilentProxy(database.url)
    const service = await startServe({ DATABASE_URL: proxy.url })
    const sample = sampleOf(service)
    assert.equal((await sample.signal()).status, 201)
    proxy.fallSilent()
    const start = performance.now()
    const first = await sample.history()
    const waited = performance.now() - start
    assert.equal(first.status, 500)
    assert.ok(waited > 4_000 && waited < 9_000, `waited ${waited} ms`)
    const probe = sample.history()
    await pause(200)
    const refusedAt = performance.now()
    const refused = await sample.signal()
    assert.equal(refused.status, 500)
    assert.match(refused.headers.get('retry-after') ?? '', /^\d+$/)
    assert.ok(performance.now() - refusedAt < 2_000)
    assert.equal((await fetch(`${service.address}/healthz`)).status, 200)
    proxy.speakAgain()
    await probe
    assert.equal((await sample.signal()).status, 201)
    assert.equal((await sample.history()).status, 200)
    await service.stop()
    proxy.close()
    await database.remove()
  })

  test('has its connections ended, so that there is room for new ones', async () => {
    const proxy = await startSilentProxy(serverUrl())
    const pool = new pg.Pool({ connectionString: proxy.url, max: 1 })
    pool.on('error', () => {})
    pool.on('connect', (client) => client.on('error', () => {}))
    const watch = endSilent(pool, 1_500)
    await pool.query('select 1')
    // One that only takes long is left alone, as long as it says something.
    await pool.query('select pg_sleep(0.5), generate_series(1, 3)')
    proxy.fallSilent()
    await assert.rejects(pool.query('select 1'), /has not answered|terminated/)
    proxy.speakAgain()
    assert.equal((await pool.query('select 2 as two')).rows[0]?.two, 2)
    const busy = await pool.connect()
    watch.leave(busy)
    await busy.query('select pg_sleep(3.5)')
    busy.release()
    watch.stop()
    await pool.end()
    proxy.close()
  })
})

/** Keeps everybody from writing to the file, as another process would; gives what ends it. */
async function holdSqlite(url: string): Promise<() => void> {
  const { DatabaseSync } = await import('node:sqlite')
  const holder = new DatabaseSync(url.slice('sqlite:'.length))
  holder.exec('begin immediate')
  return () => {
    holder.exec('rollback')
    holder.close()
  }
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await pause(10)
}

/** What comes back first. */
async function answerTo(service: TestService, bytes: string): Promise<string> {
  const socket = connect((service.app.server.address() as AddressInfo).port, '127.0.0.1', () => socket.write(bytes))
  const [chunk] = await once(socket, 'data')
  socket.destroy()
  return String(chunk)
}
