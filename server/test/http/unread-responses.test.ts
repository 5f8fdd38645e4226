import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { before, describe, test } from 'node:test'
import { sqlite } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { TestService } from '../../../testing/service.ts'
import { openSocket } from '../../../testing/socket.ts'

const megabyte = 1024 * 1024
const connections = 30

describe('Responses that clients do not read', () => {
  const service = new TestService()
  let port = 0
  before(async () => {
    await service.open(sqlite)
    await service.app.listen({ port: 0, host: '127.0.0.1' })
    port = (service.app.server.address() as AddressInfo).port
  })

  test('a key that reads nothing makes the service hold a few of its responses, and another key is served', async (t) => {
    const tenant = await service.tenant('business')
    const reader = await service.key(tenant.organisation)
    const metadata = { text: 'x'.repeat(16_000) }
    for (let i = 0; i < 100; i++) await tenant.signal({ value: 'positive', metadata })
    const responses: ServerResponse[] = []
    service.app.server.on('request', (_request, response: ServerResponse) => responses.push(response))
    const unread = () =>
      responses.filter(({ headersSent, writableFinished, destroyed }) => headersSent && !writableFinished && !destroyed)
    const path = `${tenant.path}/signals?limit=100`
    const head = `GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${tenant.key}\r\n\r\n`
    const sockets: Socket[] = []
    for (let i = 0; i < connections; i++) {
      const socket = await openSocket(port)
      t.after(() => socket.destroy())
      sockets.push(socket.pause())
      // All of them in one turn of the event loop.
      if (sockets.length === connections) for (const each of sockets) each.write(head.repeat(300))
    }
    await eventually(() => assert.ok(unread().length >= 3))
    const url = `http://127.0.0.1:${port}${path}`
    for (let i = 0; i < 3; i++) {
      const response = await fetch(url, { headers: { authorization: `Bearer ${reader}` } })
      assert.equal(response.status, 200)
      assert.equal(((await response.json()) as { data: object[] }).data.length, 100)
    }
    // 4 MB and what was at work when they were reached, of 1.6 MB each.
    const bytes = unread().length * 100 * 16_000
    assert.ok(bytes < 12 * megabyte, `${bytes} bytes are unread`)
    // Those that wait are served as soon as the ones before them are gone.
    for (const socket of sockets.slice(1)) socket.destroy()
    sockets[0]?.resume()
    await eventually(() => assert.ok((sockets[0]?.bytesRead ?? 0) > 3 * megabyte))
    sockets[0]?.destroy()
    await eventually(() => assert.equal(service.app.loadShedder.inFlight().reads, 0))
  })
})
