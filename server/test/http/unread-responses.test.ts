import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { before, describe, test } from 'node:test'
import { sqlite } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { TestService } from '../../../testing/service.ts'
import { openSocket } from '../../../testing/socket.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { heavyWeight } from '../../src/http/admission/fair-queue.ts'

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

  test('documents for many globs that are not read are held up to a limit, and one that many clients are sent counts once', async (t) => {
    const tenant = await service.tenant('business')
    const { store, now } = service
    const { id } = tenant.organisation
    await store.liveTexts.updateSettings(id, { enabled: true }, now, operator)
    const live = { entryId: 1, commitSha: '1'.repeat(40), blob: '2'.repeat(40), text: 'x'.repeat(200_000) }
    for (let i = 0; i < 35; i++) {
      const prompt = await service.prompt(tenant.organisation, `p${i}`)
      await store.liveTexts.replace(id, [{ ...live, promptId: prompt.id }], 2 ** 30)
    }
    const responses: ServerResponse[] = []
    service.app.server.on('request', (_request, response: ServerResponse) => responses.push(response))
    const unread = () =>
      responses.filter(({ headersSent, writableFinished, destroyed }) => headersSent && !writableFinished && !destroyed)
    const ask = async (query: string) => {
      const socket = (await openSocket(port)).pause()
      t.after(() => socket.destroy())
      socket.write(`GET /api/v1/delivery${query} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${tenant.key}\r\n\r\n`)
      return socket
    }
    // Of 7 MB each: more than the kernel takes over.
    const same = await Promise.all(Array.from({ length: 10 }, () => ask('')))
    await eventually(() => assert.equal(unread().length, 10))
    const others = await Promise.all(
      ['*', '**', 'p*', 'p**', '*?', '**?', 'p*?', '?*'].map((glob) => ask(`?prompts=${glob}`)),
    )
    await eventually(() => assert.ok(unread().length >= 12))
    const reader = await service.key(tenant.organisation)
    const url = `http://127.0.0.1:${port}/api/v1/delivery?prompts=p1`
    const response = await fetch(url, { headers: { authorization: `Bearer ${reader}` } })
    assert.equal(((await response.json()) as { data: { prompts: object[] } }).data.prompts.length, 1)
    // A key may leave 16 MiB unread, and what was at work when it reached them.
    const most = 10 + 2 + service.limits.organisationConcurrency / heavyWeight
    assert.ok(unread().length <= most && most < 18, `${unread().length} of ${most}`)
    for (const socket of [...same, ...others]) socket.destroy()
    await eventually(() => assert.equal(service.app.loadShedder.inFlight().reads, 0))
  })
})
