import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { before, describe, test } from 'node:test'
import { onOneEngine, sqlite } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { type Tenant, TestService, useService } from '../../../testing/service.ts'
import { inBatches } from '../../../testing/signals.ts'

const megabyte = 1024 * 1024

/** Imports signals with 16 KB of metadata each. */
async function importLarge({ service, organisation, prompt }: Tenant, count: number): Promise<void> {
  const signal = {
    organisationId: organisation.id,
    promptId: prompt.id,
    value: 'positive' as const,
    metadata: JSON.stringify({ text: 'x'.repeat(16_000) }),
    createdAt: service.now,
  }
  await service.store.signals.import(inBatches(Array(count).fill(signal)))
}

onOneEngine('Exports', (engine) => {
  const service = useService(engine)

  test('every line of an NDJSON export is one signal, whatever line breaks its metadata has', async () => {
    const tenant = await service.tenant()
    const forged = '{"id":1,"value":"negative","metadata":null,"created_at":"2026-01-01T00:00:00.000Z"}'
    const texts = [
      `{"a":\n${forged}\n}`,
      `{\r\n"a":\r${forged}\r\n}`,
      '{"a" : [1,\n\n2],\t"b":"line\\nbreak"}',
      '{"big":12345678901234567890,  "__proto__":{}}',
    ]
    for (const metadata of texts) {
      assert.equal((await tenant.signal(`{"value":"positive","metadata":${metadata}}`)).statusCode, 201)
    }
    const { body } = await service.app.inject({ url: `${tenant.path}/signals/export`, headers: tenant.headers })
    const lines = body.split('\n')
    assert.equal(lines.pop(), '')
    assert.equal(lines.length, texts.length)
    for (const [i, metadata] of texts.entries()) {
      const line = lines[i] as string
      assert.doesNotMatch(line, /[\r\n]/)
      // Every other byte is as it was sent.
      assert.ok(line.includes(`"metadata":${metadata.replaceAll(/[\r\n]/g, ' ')},"created_at"`), line)
      assert.deepEqual(JSON.parse(line).metadata, JSON.parse(metadata))
    }
  })

  test('an export reads 100 signals at a time, and fewer if they are large', async () => {
    const [small, large] = [await service.tenant('business'), await service.tenant('business')]
    await small.fillMonth(300)
    await importLarge(large, 70)
    const batchesOf = async ({ prompt }: Tenant) => {
      const filter = { value: null, since: null, until: null }
      return (await Array.fromAsync(service.store.signals.stream(prompt, filter))).map(({ length }) => length)
    }
    assert.deepEqual(await batchesOf(small), [25, 100, 100, 75])
    assert.deepEqual(await batchesOf(large), [25, 25, 20])
  })

  test('an export of any size is complete', async () => {
    const tenant = await service.tenant('business')
    await tenant.fillMonth(2_345)
    await importLarge(tenant, 150)
    for (const [format, overhead] of [
      ['ndjson', 0],
      ['csv', 1],
    ] as const) {
      const url = `${tenant.path}/signals/export?format=${format}`
      const { body } = await service.app.inject({ url, headers: tenant.headers })
      assert.equal(body.split('\n').length - 1, 2_345 + 150 + overhead, format)
    }
  })
})

describe('Export connections that read nothing', () => {
  const service = new TestService()
  let port = 0
  before(async () => {
    await service.open(sqlite)
    await service.app.listen({ port: 0, host: '127.0.0.1' })
    port = (service.app.server.address() as AddressInfo).port
  })

  /** Opens connections that request an export, and reads only the status of each. */
  async function startExports(t: { after(f: () => void): void }, tenant: Tenant, key: string, count: number) {
    const sockets: Socket[] = []
    const statuses: number[] = []
    t.after(() => {
      for (const socket of sockets) socket.destroy()
    })
    for (let i = 0; i < count; i++) {
      const socket = connect({ port, host: '127.0.0.1' })
      socket.write(`GET ${tenant.path}/signals/export HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`)
      await once(socket, 'readable')
      statuses.push(Number(String(socket.read(12)).slice(9)))
      sockets.push(socket)
    }
    return { sockets, statuses }
  }

  const inFlight = () => service.app.loadShedder.inFlight().reads

  test('a key has at most 4 exports and an organisation 8, until they have been read or closed', async (t) => {
    const tenant = await service.tenant('business', 'admin')
    await importLarge(tenant, 1_000)
    const first = await startExports(t, tenant, tenant.key, 6)
    assert.deepEqual(first.statuses, [200, 200, 200, 200, 500, 500])
    const second = await startExports(t, tenant, await service.key(tenant.organisation), 5)
    assert.deepEqual(second.statuses, [200, 200, 200, 200, 500])
    const third = await startExports(t, tenant, await service.key(tenant.organisation), 1)
    assert.deepEqual(third.statuses, [500])
    await eventually(() => assert.equal(inFlight(), 8))
    assert.equal(service.app.loadShedder.rejected().exports, 4)

    const rejected = await service.app.inject({ url: `${tenant.path}/signals/export`, headers: tenant.headers })
    assert.equal(rejected.statusCode, 500)
    // Exports of history take the same slots.
    const url = `${tenant.path}/timeline/export`
    assert.equal((await service.app.inject({ url, headers: tenant.headers })).statusCode, 500)
    assert.match(rejected.json().error.message, /^Too many exports are running: at most 4 per key/)
    assert.match(String(rejected.headers['retry-after']), /^\d+$/)
    // Another organisation is not affected, and neither are other requests of this one.
    const other = await service.tenant()
    const theirs = `${other.path}/signals/export`
    assert.equal((await service.app.inject({ url: theirs, headers: other.headers })).statusCode, 200)
    assert.equal((await tenant.history()).statusCode, 200)

    for (const { sockets } of [first, second]) for (const socket of sockets) socket.destroy()
    await eventually(() => assert.equal(inFlight(), 0))
    const again = await startExports(t, tenant, tenant.key, 1)
    assert.deepEqual(again.statuses, [200])
  })

  test('an export keeps no more in memory than a batch, however much its client leaves unread', async (t) => {
    const tenant = await service.tenant('business')
    await importLarge(tenant, 2_000)
    let batches = 0
    const { stream } = service.store.signals
    t.after(() => Object.assign(service.store.signals, { stream }))
    service.store.signals.stream = async function* (...args) {
      for await (const batch of stream(...args)) {
        batches++
        assert.ok(batch.length * 16_000 < megabyte / 2)
        yield batch
      }
    }
    const { sockets } = await startExports(t, tenant, tenant.key, 1)
    const [socket] = sockets as [Socket]
    // The kernel takes some megabytes. What it does not take must stay in the database.
    await eventually(async () => {
      const before = batches
      await new Promise((resolve) => setTimeout(resolve, 200))
      assert.equal(batches, before)
    })
    assert.ok(batches < 60, `${batches} of 80 batches were read`)
    socket.resume()
    await eventually(() => assert.equal(batches, 80))
    await eventually(() => assert.equal(inFlight(), 0))
  })

  test('an organisation reads one batch of its exports at a time, and does not delay those of others', async (t) => {
    const [tenant, other] = [await service.tenant('business'), await service.tenant('business')]
    await importLarge(tenant, 300)
    await importLarge(other, 300)
    const reading = { own: 0, most: 0 }
    let goOn = () => {}
    const isHeld = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const { stream } = service.store.signals
    t.after(() => Object.assign(service.store.signals, { stream }))
    service.store.signals.stream = async function* (prompt, filter) {
      const isOwn = prompt.id === tenant.prompt.id
      const batches = stream(prompt, filter)[Symbol.asyncIterator]()
      for (;;) {
        if (isOwn) {
          reading.most = Math.max(reading.most, ++reading.own)
          await isHeld
        }
        const { done, value } = await batches.next()
        if (isOwn) reading.own--
        if (done) return
        yield value
      }
    }
    const origin = `http://127.0.0.1:${(service.app.server.address() as AddressInfo).port}`
    const exported = async ({ path, key }: Tenant) => {
      const response = await fetch(`${origin}${path}/signals/export`, { headers: { authorization: `Bearer ${key}` } })
      return (await response.text()).trimEnd().split('\n').length
    }
    const own = [exported(tenant), exported(tenant), exported(tenant)]
    assert.equal(await exported(other), 300)
    goOn()
    assert.deepEqual(await Promise.all(own), [300, 300, 300])
    assert.equal(reading.most, 1)
  })

  test('a client that stops reading is disconnected after a timeout, and its export ends', async (t) => {
    const tenant = await service.tenant('business')
    await importLarge(tenant, 2_000)
    const { server } = service.app
    const { timeout } = server
    assert.equal(timeout, 73_000)
    t.after(() => Object.assign(server, { timeout }))
    server.timeout = 2_000
    const { sockets } = await startExports(t, tenant, tenant.key, 1)
    const [socket] = sockets as [Socket]
    const closed = once(
      socket.on('error', () => {}),
      'close',
    )
    assert.equal(inFlight(), 1)
    await eventually(() => assert.equal(inFlight(), 0))
    socket.resume()
    await closed
  })
})
