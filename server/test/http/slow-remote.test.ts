import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { after, before, beforeEach, describe, test } from 'node:test'
import { sqlite } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { GitHttpServer } from '../../../testing/git-http.ts'
import { HttpProxy } from '../../../testing/http-proxy.ts'
import { type Tenant, TestService } from '../../../testing/service.ts'
import { type Connected, createRemote } from './repository-client.ts'

describe('Connecting a repository on a slow git server', () => {
  const service = new TestService()
  const proxy = new HttpProxy()
  let tenant: Tenant

  before(async () => {
    await service.open(sqlite)
    Object.assign(service.syncContext, { allowHttp: true, allowPrivateAddresses: true })
    const server = await new GitHttpServer().start()
    server.folders.set('/prompts', createRemote().remote)
    await proxy.open(server.port)
    await service.app.listen({ port: 0, host: '127.0.0.1' })
  })

  after(() => proxy.close())

  beforeEach(async () => {
    proxy.reset()
    tenant = await service.tenant('free', 'admin')
  })

  async function connect(path = 'prompts/*.md'): Promise<{ status: number; data: Connected }> {
    const { port } = service.app.server.address() as AddressInfo
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/repositories`, {
      method: 'POST',
      headers: { ...tenant.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ forge: 'github', url: `${proxy.address}/prompts`, path }),
    })
    return { status: response.status, ...((await response.json()) as { data: Connected }) }
  }

  test('the response with the webhook secret arrives after a connection may be silent', async (t) => {
    const { timeout } = service.app.server
    t.after(() => Object.assign(service.app.server, { timeout }))
    service.app.server.timeout = 1_000
    proxy.first({ do: 'delay', milliseconds: 2_000 })
    const { status, data } = await connect()
    assert.deepEqual([status, data.prompts.length], [201, 2])
    assert.ok(data.webhook_secret.length > 0)
  })

  test('a request repeated while the first is running gets the same secret, and git asks the server once', async () => {
    proxy.first({ do: 'hold' })
    const responses = [connect(), connect(), connect()]
    await eventually(() => {
      assert.equal(service.app.loadShedder.inFlight().writes, 3)
      assert.equal(proxy.requests.length, 1)
    })
    proxy.release()
    const connected = await Promise.all(responses)
    assert.deepEqual(
      connected.map(({ status, data }) => [status, data.id, data.webhook_secret]),
      connected.map(() => [201, connected[0]?.data.id, connected[0]?.data.webhook_secret]),
    )
    assert.equal((await service.store.repositories.list(tenant.organisation.id)).length, 1)
  })

  test('a request repeated after the response gets 409, and one for another path connects another repository', async () => {
    const [first, other] = await Promise.all([connect(), connect('prompts/p.md')])
    assert.deepEqual([first.status, other.status, first.data.id === other.data.id], [201, 201, false])
    assert.equal((await connect()).status, 409)
  })
})
