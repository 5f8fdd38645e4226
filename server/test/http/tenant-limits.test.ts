import assert from 'node:assert/strict'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, before, describe, test } from 'node:test'
import { sqlite } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { type Tenant, TestService } from '../../../testing/service.ts'

const nothing = { reads: 0, writes: 0, strangers: 0, bodyBytes: 0, unknownBytes: 0 }

describe('What one organisation and one key may use of a process', () => {
  const service = new TestService()
  // Of 2,000 reads and writes at a time: 40 of an organisation, 20 of a key.
  service.limits = { organisationShare: 2, keyShare: 1, organisationConcurrency: 4 }
  let port = 0
  before(async () => {
    await service.open(sqlite)
    await service.app.listen({ port: 0, host: '127.0.0.1' })
    port = (service.app.server.address() as AddressInfo).port
  })

  const sockets: Socket[] = []
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy()
    await eventually(() => assert.deepEqual(service.app.loadShedder.inFlight(), nothing))
  })

  /** Starts signals whose bodies do not arrive completely. */
  async function startSignals(tenant: Tenant, key: string, count: number, length = 20): Promise<void> {
    const { loadShedder } = service.app
    const before = loadShedder.inFlight().writes
    for (let i = 0; i < count; i++) {
      const socket = connect(port, '127.0.0.1')
      sockets.push(socket)
      socket.write(
        `POST ${tenant.path}/signals HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n{"value":`,
      )
    }
    await eventually(() => assert.equal(loadShedder.inFlight().writes, before + count))
  }

  function signal(key: string, { path }: Tenant) {
    return service.app.inject({
      method: 'POST',
      url: `${path}/signals`,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      payload: '{"value":"positive"}',
    })
  }

  test('a key over its share gets 500 with Retry-After, and the other keys of its organisation are served', async () => {
    const tenant = await service.tenant('team')
    const otherKey = await service.key(tenant.organisation, 'ingest')
    await startSignals(tenant, tenant.key, 20)
    const response = await signal(tenant.key, tenant)
    assert.equal(response.statusCode, 500)
    assert.deepEqual(response.json(), {
      error: {
        code: 'internal_error',
        message: 'Too many requests of this key or organisation are in flight. Retry in a few seconds.',
      },
    })
    assert.equal(response.headers['retry-after'], '2')
    assert.equal((await signal(otherKey, tenant)).statusCode, 201)
    assert.equal((await tenant.history()).statusCode, 200, 'reads have a share of their own')
    assert.equal(service.app.loadShedder.rejected().key, 1)
    assert.equal(await tenant.used(), 1)
  })

  test('an admin of an organisation over its share can still read', async () => {
    const tenant = await service.tenant('team')
    const keys = [tenant.key, await service.key(tenant.organisation), await service.key(tenant.organisation)]
    const admin = await service.key(tenant.organisation, 'admin')
    const read = async (key: string) =>
      (await service.app.inject({ url: `${tenant.path}/signals`, headers: { authorization: `Bearer ${key}` } }))
        .statusCode
    const [first, second, third] = keys as [string, string, string]
    // Known keys are looked up without waiting, so the requests are admitted in this order.
    for (const key of [...keys, admin]) assert.equal(await read(key), 200)
    const responses = [first, second].flatMap((key) => Array.from({ length: 20 }, () => read(key)))
    const [ofOthers, ofAdmin] = [read(third), read(admin)]
    assert.deepEqual(await Promise.all([ofOthers, ofAdmin]), [500, 200])
    assert.deepEqual(await Promise.all(responses), Array(40).fill(200))
  })

  test('an organisation over its share is rejected with every key, and other organisations are served', async () => {
    const [tenant, other] = [await service.tenant('team'), await service.tenant('team')]
    const keys = [tenant.key, await service.key(tenant.organisation), await service.key(tenant.organisation)]
    for (const key of keys.slice(0, 2)) await startSignals(tenant, key, 20)
    for (const key of keys) assert.equal((await signal(key, tenant)).statusCode, 500)
    assert.ok(service.app.loadShedder.rejected().organisation >= 1)
    assert.equal((await other.signal({ value: 'positive' })).statusCode, 201)
    assert.equal(await tenant.used(), 0)
  })

  test('the bytes of announced bodies are shared in the same way', async () => {
    const [tenant, other] = [await service.tenant('team'), await service.tenant('team')]
    // One percent of 24 MiB.
    await startSignals(tenant, tenant.key, 4, 60_000)
    const large = { value: 'positive', ignored: 'x'.repeat(60_000) }
    assert.equal((await tenant.signal(large)).statusCode, 500)
    assert.equal((await other.signal(large)).statusCode, 201)
    assert.equal((await tenant.signal({ value: 'positive' })).statusCode, 201)
  })

  test('a body that is larger than the share is accepted while no other is in flight', async () => {
    const tenant = await service.tenant('team')
    const signals = Array.from({ length: 20 }, () => ({
      prompt: tenant.prompt.publicId,
      value: 'positive',
      comment: 'x'.repeat(15_000),
    }))
    const response = await service.app.inject({
      method: 'POST',
      url: '/api/v1/signals',
      headers: tenant.headers,
      payload: { signals },
    })
    assert.equal(response.statusCode, 200)
  })

  test('bodies that do not arrive keep no other request waiting', async () => {
    const tenant = await service.tenant('team')
    // More than are at work at the same time.
    await startSignals(tenant, tenant.key, 10)
    for (let i = 0; i < 5; i++) assert.equal((await tenant.signal({ value: 'positive' })).statusCode, 201)
    for (const socket of sockets) socket.write('"positive"}')
    await eventually(async () => assert.equal(await tenant.used(), 15))
  })

  test('more requests than may be at work wait for their turn, and all of them are served', async () => {
    const tenant = await service.tenant('team')
    const signals = Array.from({ length: 20 }, () => tenant.signal({ value: 'positive' }))
    const lists = Array.from({ length: 20 }, (_, i) =>
      service.app.inject({ url: `${tenant.path}/${i % 2 ? 'signals' : 'timeline'}`, headers: tenant.headers }),
    )
    for (const { statusCode } of await Promise.all(signals)) assert.equal(statusCode, 201)
    for (const { statusCode } of await Promise.all(lists)) assert.equal(statusCode, 200)
    assert.deepEqual(service.app.loadShedder.inFlight(), nothing)
  })
})
