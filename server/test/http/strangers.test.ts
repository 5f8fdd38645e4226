import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { before, test } from 'node:test'
import { onOneEngine } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { registeredRoutes } from '../../../testing/routes.ts'
import { connectedScenario } from '../../../testing/scenario.ts'
import { TestService } from '../../../testing/service.ts'
import { openSocket } from '../../../testing/socket.ts'
import { addSource } from '../../../testing/sources.ts'
import { createSigningKey, payloadFor, signPayload } from '../../../testing/vote-tokens.ts'
import { strangerLimits } from '../../src/http/admission/stranger-bodies.ts'

const maxVotes = strangerLimits.perTarget.bodies
const nothing = { reads: 0, writes: 0, strangers: 0, bodyBytes: 0, unknownBytes: 0 }

onOneEngine('Bodies of strangers', (engine) => {
  const service = new TestService()
  service.trustedProxies = ['127.0.0.1']
  service.demo = { prompt: 'pmt_x', sign: async () => '' }
  let port = 0
  before(async () => {
    await service.open(engine)
    await service.app.listen({ port: 0, host: '127.0.0.1' })
    port = (service.app.server.address() as AddressInfo).port
  })

  interface Sent {
    length?: number
    route?: string
    type?: string
  }

  /** Sends a request from an address of its own. */
  async function send(number: number, body: string, { length = body.length, ...sent }: Sent = {}) {
    const { route = 'POST /api/v1/votes', type = 'text/plain' } = sent
    const socket = await openSocket(port)
    socket.write(
      `${route} HTTP/1.1\r\nHost: a\r\nOrigin: https://ledger.example\r\nX-Forwarded-For: 10.${number}.0.1\r\n` +
        `Content-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n${body}`,
    )
    return socket
  }

  async function responseOn(socket: Socket): Promise<string> {
    const [response] = (await once(socket, 'data')) as [Buffer]
    socket.destroy()
    return response.toString()
  }

  test('take room of their own on every route that does not know its caller by the headers', async () => {
    const { repository } = await connectedScenario(service)
    const { organisation } = await service.tenant('team')
    const { source } = await addSource(service, organisation.id)
    const waiting: string[] = []
    const routes = registeredRoutes(service.app).filter((route) => !/^(GET|HEAD) /.test(route))
    for (const route of [...routes, 'POST /nowhere', 'POST /api/v1/nowhere', 'POST /webhooks']) {
      const url = route.replace(':hook_id', repository.hookId).replace(':source_id', source.publicId)
      const socket = await send(0, '{', { route: url, length: 8_000, type: 'application/json' })
      let isAnswered = false
      socket.once('data', () => {
        isAnswered = true
      })
      const { loadShedder } = service.app
      // Whatever else it occupies was taken from signals.
      await eventually(() => isAnswered || assert.deepEqual(loadShedder.inFlight(), { ...nothing, strangers: 1 }), {
        timeoutMs: 10_000,
        intervalMs: 1,
      }).catch((error) => assert.fail(`${route}: ${error.message}`))
      if (!isAnswered) waiting.push(route)
      socket.destroy()
      await eventually(() => assert.deepEqual(loadShedder.inFlight(), nothing), { intervalMs: 1 })
    }
    const known = ['votes', 'sources/:source_id/events', 'sign-in', 'sign-in/email', 'sign-in/link']
    for (const route of ['POST /webhooks/:hook_id', ...known.map((path) => `POST /api/v1/${path}`)]) {
      assert.ok(waiting.includes(route), route)
    }
  })

  test('that never arrive take no place of the API, make room for others, and a page can read that its vote was rejected', async (t) => {
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
    const first = await send(0, '{', { length: 8_000 })
    sockets.push(first)
    await eventually(() => assert.equal(loadShedder.inFlight().strangers, 1))
    for (let number = 1; number < maxVotes; number++) {
      // The same path in another spelling.
      const route = number % 2 === 0 ? 'POST /api/v1/votes' : 'POST /api/v1/vote%73?x'
      sockets.push(await send(number, '{', { length: 8_000, route }))
    }
    await eventually(() => assert.equal(loadShedder.inFlight().strangers, maxVotes))
    assert.match(await responseOn(await send(maxVotes, vote)), /^HTTP\/1\.1 200 /)

    const rejected = await responseOn(first)
    assert.match(rejected, /^HTTP\/1\.1 500 /)
    assert.match(rejected, /\r\naccess-control-allow-origin: \*\r\n/i)
    assert.match(rejected, /\r\naccess-control-expose-headers: Retry-After, X-Request-Id\r\n/i)
    assert.match(rejected, /\r\nretry-after: \d+\r\n/i)
    assert.equal(loadShedder.rejected().strangers, 1)
    assert.equal((await tenant.signal({ value: 'positive' })).statusCode, 201)
    assert.equal(loadShedder.inFlight().writes, 0)

    closeAll()
    await eventually(() => assert.deepEqual(loadShedder.inFlight(), nothing))
  })
})
