import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { before, test } from 'node:test'
import { onOneEngine } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { TestService } from '../../../testing/service.ts'
import { openSocket } from '../../../testing/socket.ts'
import { createSigningKey, payloadFor, signPayload } from '../../../testing/vote-tokens.ts'

const maxVotes = 500

onOneEngine('Strangers who send votes', (engine) => {
  const service = new TestService()
  service.trustedProxies = ['127.0.0.1']
  let port = 0
  before(async () => {
    await service.open(engine)
    await service.app.listen({ port: 0, host: '127.0.0.1' })
    port = (service.app.server.address() as AddressInfo).port
  })

  /** Sends a request from an address of its own. */
  async function send(number: number, body: string, { length = body.length, path = '/api/v1/votes' } = {}) {
    const socket = await openSocket(port)
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: a\r\nOrigin: https://shop.example\r\nX-Forwarded-For: 10.0.${number >> 8}.${number & 255}\r\n` +
        `Content-Type: text/plain\r\nContent-Length: ${length}\r\n\r\n${body}`,
    )
    return socket
  }

  async function responseOn(socket: Socket): Promise<string> {
    const [response] = (await once(socket, 'data')) as [Buffer]
    socket.destroy()
    return response.toString()
  }

  test('bodies that never arrive take no place of the API, and a page can read that its vote was rejected', async (t) => {
    const tenant = await service.tenant()
    const { secret } = await createSigningKey(service, tenant)
    const vote = JSON.stringify({
      token: signPayload(secret, payloadFor(secret, tenant, service.now)),
      value: 'positive',
    })
    const { loadShedder } = service.app
    const sockets: Socket[] = []
    const closeAll = () => {
      for (const socket of sockets) socket.destroy()
    }
    t.after(closeAll)
    for (let number = 0; number < maxVotes; number++) {
      // The same path in another spelling.
      const path = number % 2 === 0 ? '/api/v1/votes' : '/api/v1/vote%73?x'
      sockets.push(await send(number, '{', { length: 8_000, path }))
    }
    await eventually(() => assert.equal(loadShedder.inFlight().votes, maxVotes))

    const rejected = await responseOn(await send(maxVotes, vote))
    assert.match(rejected, /^HTTP\/1\.1 500 /)
    assert.match(rejected, /\r\naccess-control-allow-origin: \*\r\n/i)
    assert.match(rejected, /\r\naccess-control-expose-headers: Retry-After, X-Request-Id\r\n/i)
    assert.match(rejected, /\r\nretry-after: \d+\r\n/i)
    assert.equal(loadShedder.rejected().votes, 1)
    assert.equal((await tenant.signal({ value: 'positive' })).statusCode, 201)
    assert.equal(loadShedder.inFlight().writes, 0)

    closeAll()
    await eventually(() => assert.equal(loadShedder.inFlight().votes, 0))
    assert.match(await responseOn(await send(maxVotes, vote)), /^HTTP\/1\.1 200 /)
  })
})
