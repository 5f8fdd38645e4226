import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { before, describe, test } from 'node:test'
import { sqlite } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { type Tenant, TestService } from '../../../testing/service.ts'

const megabyte = 1_000_000

describe('Bodies that are still arriving when their request is rejected', () => {
  const service = new TestService()
  let port = 0
  let tenant: Tenant
  before(async () => {
    await service.open(sqlite)
    await service.app.listen({ port: 0, host: '127.0.0.1' })
    port = (service.app.server.address() as AddressInfo).port
    tenant = await service.tenant()
  })

  const head = (key: string, length: string) =>
    `POST ${tenant.path}/signals HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n` +
    `Content-Type: application/json\r\n${length}\r\n\r\n`

  /** Sends everything before it reads anything, as most HTTP libraries do. Resolves to what the service sent. */
  async function sendThenRead(socket: Socket, start: string, chunks: string[]): Promise<string> {
    socket.pause()
    socket.write(start)
    for (const chunk of chunks) await new Promise<void>((resolve) => socket.write(chunk, () => setTimeout(resolve, 1)))
    socket.resume()
    const [response] = await once(socket, 'data')
    return String(response)
  }

  const pieces = (bytes: number) => Array<string>(Math.ceil(bytes / 65_536)).fill('x'.repeat(65_536))

  for (const size of [0.1, 3, 7]) {
    test(`a client that sends ${size} MB and reads only then gets its 422, and may go on`, async (t) => {
      const socket = connect(port, '127.0.0.1')
      t.after(() => socket.destroy())
      const chunks = pieces(size * megabyte)
      const length = chunks.length * 65_536
      const response = await sendThenRead(socket, head(tenant.key, `Content-Length: ${length}`), chunks)
      assert.match(response, /^HTTP\/1\.1 422 /)
      assert.match(response, /"The body is too large"/)
      socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n')
      assert.match(String((await once(socket, 'data'))[0]), /^HTTP\/1\.1 200 /)
    })
  }

  test('a body without a length gets its 422 too', async (t) => {
    const socket = connect(port, '127.0.0.1')
    t.after(() => socket.destroy())
    const chunks = pieces(3 * megabyte).map((chunk) => `10000\r\n${chunk}\r\n`)
    const response = await sendThenRead(socket, head(tenant.key, 'Transfer-Encoding: chunked'), [
      ...chunks,
      '0\r\n\r\n',
    ])
    assert.match(response, /^HTTP\/1\.1 422 /)
  })

  test('a client with a wrong key gets its 401 though its body is large', async (t) => {
    const socket = connect(port, '127.0.0.1')
    t.after(() => socket.destroy())
    const chunks = pieces(3 * megabyte)
    const length = `Content-Length: ${chunks.length * 65_536}`
    assert.match(await sendThenRead(socket, head('wrong', length), chunks), /^HTTP\/1\.1 401 /)
  })

  test('the service stops reading after 8 MiB', async (t) => {
    const socket = connect(port, '127.0.0.1')
    t.after(() => socket.destroy())
    socket.on('error', () => {})
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.write(head(tenant.key, `Content-Length: ${100 * megabyte}`))
    const [chunk] = pieces(1) as [string]
    let sent = 0
    const send = () => {
      while (!socket.destroyed && sent < 100 * megabyte && socket.write(chunk)) sent += chunk.length
    }
    socket.on('drain', send)
    send()
    await closed
    assert.ok(sent < 40 * megabyte, `${sent} bytes were sent`)
  })

  test('the service stops waiting for the rest after 5 s', async (t) => {
    const socket = connect(port, '127.0.0.1')
    t.after(() => socket.destroy())
    const start = performance.now()
    socket.write(head('wrong', 'Content-Length: 50000'))
    await once(socket, 'data')
    await once(socket.resume(), 'close')
    const waited = performance.now() - start
    assert.ok(waited > 4_000 && waited < 12_000, `${waited} ms`)
    await eventually(() => assert.equal(service.app.loadShedder.inFlight().writes, 0))
  })
})
