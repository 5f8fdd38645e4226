import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { before, describe, type TestContext, test } from 'node:test'
import type { InjectOptions } from 'fastify'
import { onOneEngine, sqlite } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { connectedScenario, type Scenario } from '../../../testing/scenario.ts'
import { TestService } from '../../../testing/service.ts'
import { strangerLimits } from '../../src/http/admission/stranger-bodies.ts'

const megabyte = 1024 * 1024
const maxUploads = strangerLimits.perNetwork.bodies

/** The real service on a real socket. */
function useListeningService(engine: typeof sqlite) {
  const service = new TestService()
  before(async () => {
    await service.open(engine)
    await service.app.listen({ port: 0, host: '127.0.0.1' })
  })
  const port = () => (service.app.server.address() as AddressInfo).port

  /** Starts an unsigned delivery that announces more than it sends. */
  async function startUpload(t: TestContext, { repository }: Scenario, announced: number, sent = '{'): Promise<Socket> {
    const socket = connect(port(), '127.0.0.1')
    t.after(() => socket.destroy())
    socket.on('error', () => {})
    await once(socket, 'connect')
    socket.write(
      `POST /webhooks/${repository.hookId} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${announced}\r\n\r\n${sent}`,
    )
    return socket
  }

  return { service, port, startUpload }
}

onOneEngine('Webhook bodies', (engine) => {
  const { service, port, startUpload } = useListeningService(engine)

  test('announced bodies that never arrive take nothing from recording or from other webhooks', async (t) => {
    const [attacked, other] = [await connectedScenario(service), await connectedScenario(service)]
    const tenant = await service.tenant()
    const { loadShedder } = service.app
    for (let i = 0; i < 4; i++) await startUpload(t, attacked, 25 * megabyte)
    await eventually(() => assert.equal(loadShedder.inFlight().strangers, 4))
    assert.equal(loadShedder.inFlight().bodyBytes, 0)
    for (let i = 0; i < 20; i++) assert.equal((await tenant.signal({ value: 'positive' })).statusCode, 201)
    assert.equal(await other.send(other.forge.ping()), 202)
    assert.equal(await attacked.send(attacked.forge.ping()), 202)
    assert.deepEqual(loadShedder.rejected().bodies + loadShedder.rejected().strangers, 0)
  })

  test('a webhook takes deliveries though many uploads to it have stalled', async (t) => {
    const scenario = await connectedScenario(service)
    const oldest = await startUpload(t, scenario, 100)
    await eventually(() => assert.equal(service.app.loadShedder.inFlight().strangers, 1))
    // The body of a delivery is read after its repository was found, which may take one longer than a later one.
    const statuses = [await scenario.send(scenario.forge.ping())]
    const others = Array.from({ length: maxUploads - 1 }, () => startUpload(t, scenario, 100))
    const stalled = [oldest, ...(await Promise.all(others))]
    await eventually(() => assert.ok(service.app.loadShedder.inFlight().strangers >= maxUploads))
    let response = ''
    oldest.once('data', (chunk) => {
      response = String(chunk)
    })
    await eventually(async () => {
      statuses.push(await scenario.send(scenario.forge.ping()))
      assert.notEqual(response, '')
    })
    assert.deepEqual([...new Set(statuses)], [202])
    assert.match(response, /^HTTP\/1\.1 500 (.|\r\n)*\r\nretry-after: \d/i)
    for (const socket of stalled) socket.destroy()
    await eventually(() => assert.equal(service.app.loadShedder.inFlight().strangers, 0))
  })

  test('a small delivery succeeds while large uploads fill the memory of its webhook', async (t) => {
    const scenario = await connectedScenario(service)
    const uploads = [0, 1].map(() => startUpload(t, scenario, 20 * megabyte, 'x'.repeat(18 * megabyte)))
    const rejected = uploads.map(async (upload) => once(await upload, 'data'))
    assert.match(String((await Promise.race(rejected))[0]), /^HTTP\/1\.1 500 /)
    assert.equal(await scenario.send(scenario.forge.ping()), 202)
  })

  test('a body that arrives at once is received in pieces, and others have the time between them', async (t) => {
    const scenario = await connectedScenario(service)
    const timers = t.mock.method(globalThis, 'setTimeout').mock
    const socket = await startUpload(t, scenario, 10 * megabyte, 'x'.repeat(10 * megabyte))
    const [response] = await once(socket, 'data')
    assert.match(String(response), /^HTTP\/1\.1 4/)
    const rests = timers.calls.filter(({ arguments: [, ms] }) => ms === 4)
    assert.equal(rests.length, 10)
  })

  test('a signed body of 12 MB is stored, with a length or without, and one of 26 MB is rejected', async () => {
    const scenario = await connectedScenario(service)
    const url = `http://127.0.0.1:${port()}/webhooks/${scenario.repository.hookId}`
    const padded = (size: number) => Buffer.from(`{"ref":"refs/tags/x","pad":"${'x'.repeat(size)}"}`)
    const large = scenario.forge.signed('push', padded(12 * megabyte))
    const bytes = new Uint8Array(large.body)
    for (const body of [bytes, new Blob([bytes]).stream()]) {
      const init = { method: 'POST', headers: large.headers, body, duplex: 'half' }
      assert.equal((await fetch(url, init as RequestInit)).status, 202)
    }
    const { headers, body } = scenario.forge.signed('push', padded(26 * megabyte))
    for (const length of [{}, { 'transfer-encoding': 'chunked' }]) {
      const request = { method: 'POST', url: new URL(url).pathname, headers: { ...headers, ...length }, payload: body }
      const response = await service.app.inject(request as InjectOptions)
      assert.equal(response.statusCode, 422)
      assert.equal(response.json().error.message, 'The body is too large')
    }
    // The second has the ID of the first.
    assert.equal((await scenario.deliveryStates()).length, 1)
  })
})

describe('Slow webhook bodies', () => {
  const { service, startUpload } = useListeningService(sqlite)

  test('a body that arrives at less than 64 KB a second is rejected after 5 s', async (t) => {
    const scenario = await connectedScenario(service)
    const start = performance.now()
    const socket = await startUpload(t, scenario, 25 * megabyte)
    const trickle = setInterval(() => socket.write('x'), 100)
    t.after(() => clearInterval(trickle))
    const [response] = await once(socket, 'data')
    clearInterval(trickle)
    assert.match(String(response), /^HTTP\/1\.1 422 /)
    assert.match(String(response), /"The body arrives too slowly: send at least 65536 bytes a second"/)
    const waited = performance.now() - start
    assert.ok(waited > 4_000 && waited < 15_000, `${waited} ms`)
    assert.equal(service.app.loadShedder.inFlight().strangers, 0)
    assert.deepEqual(await scenario.deliveryStates(), [])
  })
})
