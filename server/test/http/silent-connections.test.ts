import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { sqlite } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { TestService } from '../../../testing/service.ts'
import { openSocket } from '../../../testing/socket.ts'

describe('Connections on which nothing happens', () => {
  const service = new TestService()
  let port = 0
  before(async () => {
    await service.open(sqlite)
    await service.app.listen({ port: 0, host: '127.0.0.1' })
    port = (service.app.server.address() as AddressInfo).port
  })

  test('an erasure may take longer than a connection may be silent', async (t) => {
    const tenant = await service.tenant('free', 'admin')
    service.app.server.timeout = 1_000
    const { eraseNextBatch } = service.store.signals
    t.after(() => Object.assign(service.store.signals, { eraseNextBatch }))
    service.store.signals.eraseNextBatch = async (...args) => {
      await pause(2_000)
      return eraseNextBatch(...args)
    }
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/signals/erase`, {
      method: 'POST',
      headers: { ...tenant.headers, 'content-type': 'application/json' },
      body: '{"metadata":{"user":"u-1"}}',
    })
    assert.deepEqual(await response.json(), { data: { erased: 0 } })
  })

  test('after it, the connection may be silent for no longer than before', async (t) => {
    const tenant = await service.tenant('free', 'admin')
    service.app.server.timeout = 1_000
    const connected = once(service.app.server, 'connection')
    const client = await openSocket(port)
    t.after(() => client.destroy())
    const [socket] = (await connected) as [Socket]
    const body = '{"metadata":{"user":"u-1"}}'
    client.write(
      `POST /api/v1/signals/erase HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${tenant.key}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    await once(client, 'data')
    assert.equal(socket.timeout, 1_000)
    await once(socket, 'close')
  })

  test('responses that a client pipelines and does not read count until it is disconnected', async (t) => {
    const tenant = await service.tenant()
    service.app.server.timeout = 2_000
    for (let i = 0; i < 25; i++) await tenant.recordEntry({ createdAt: service.now - i })
    const request = `GET ${tenant.path}/history HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${tenant.key}\r\n\r\n`
    const connected = once(service.app.server, 'connection')
    const client = await openSocket(port)
    t.after(() => client.destroy())
    const [socket] = (await connected) as [Socket]
    const closed = once(socket, 'close')
    const { loadShedder } = service.app
    // More than the buffers of both kernels hold.
    const send = setInterval(() => client.writableLength < 1_000_000 && client.write(request.repeat(200)), 5)
    t.after(() => clearInterval(send))
    await eventually(() => assert.ok(loadShedder.inFlight().reads > 0 && socket.writableLength > 0))
    await closed
    await eventually(() => assert.equal(loadShedder.inFlight().reads, 0))
    assert.equal((await tenant.history()).statusCode, 200)
  })
})
