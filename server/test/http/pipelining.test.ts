import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { before, describe, test } from 'node:test'
import { sqlite } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { type Tenant, TestService } from '../../../testing/service.ts'
import { openSocket } from '../../../testing/socket.ts'
import { turnCounter } from '../../../testing/turns.ts'
import { keepUnparsed, limitPipelining } from '../../src/http/admission/pipelining.ts'

describe('Requests that a client sends before it gets the response to the one before', () => {
  const service = new TestService()
  let port = 0
  let tenant: Tenant
  before(async () => {
    await service.open(sqlite)
    await service.app.listen({ port: 0, host: '127.0.0.1' })
    port = (service.app.server.address() as AddressInfo).port
    tenant = await service.tenant('business')
    service.app.server.on('request', (_request, response: ServerResponse) => {
      handled++
      highest = Math.max(highest, ++unanswered)
      response.once('finish', () => unanswered--)
    })
  })

  let [unanswered, highest, handled] = [0, 0, 0]

  /** Sends all bytes at once and resolves when the client has read this many responses. */
  async function exchange(bytes: string, count: number, to = port): Promise<string> {
    const socket = await openSocket(to)
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk
    })
    socket.write(bytes)
    await eventually(() => assert.equal(received.split('HTTP/1.1 ').length - 1, count))
    socket.destroy()
    return received
  }

  const body = '{"value":"positive"}'
  const signal = (id: string) =>
    `POST ${tenant.path}/signals HTTP/1.1\r\nAuthorization: Bearer ${tenant.key}\r\nX-Request-Id: ${id}\r\n` +
    'Content-Type: application/json\r\n'
  const requests: Record<string, { of: (id: string) => string; status: number }> = {
    'health checks': { of: (id) => `GET /healthz HTTP/1.1\r\nX-Request-Id: ${id}\r\n\r\n`, status: 200 },
    'HEAD requests': { of: (id) => `HEAD /docs HTTP/1.1\r\nX-Request-Id: ${id}\r\n\r\n`, status: 200 },
    'requests without a key': {
      of: (id) => `GET ${tenant.path}/history HTTP/1.1\r\nX-Request-Id: ${id}\r\n\r\n`,
      status: 401,
    },
    signals: { of: (id) => `${signal(id)}Content-Length: ${body.length}\r\n\r\n${body}`, status: 201 },
    'signals in chunks': {
      of: (id) => `${signal(id)}Transfer-Encoding: chunked\r\n\r\n14\r\n${body}\r\n0\r\n\r\n`,
      status: 201,
    },
  }

  for (const [name, { of, status }] of Object.entries(requests)) {
    test(`of 100 ${name}, one is at work at a time, and all get their responses in order`, async () => {
      highest = 0
      const ids = Array.from({ length: 100 }, (_, i) => `${i}`)
      const received = await exchange(ids.map(of).join(''), ids.length)
      const heads = [...received.matchAll(/HTTP\/1\.1 (\d+)[\s\S]*?x-request-id: (\w+)/gi)]
      assert.deepEqual(
        heads.map(([, code, id]) => `${code} ${id}`),
        ids.map((id) => `${status} ${id}`),
      )
      // The one at work, and the one at which the parser has stopped.
      assert.equal(highest, 2)
    })
  }

  test('clients that send ahead leave half of the time to others', async (t) => {
    const [count, blockedMs] = [20, 3]
    const turns = turnCounter(t)
    const turnsAt: number[] = []
    const block = (_request: unknown, response: ServerResponse) => {
      turnsAt.push(turns())
      const end = performance.now() + blockedMs
      while (performance.now() < end);
      response.end()
    }
    const server = createServer(block)
    limitPipelining(server)
    server.on('clientError', keepUnparsed)
    await once(server.listen(0, '127.0.0.1'), 'listening')
    t.after(() => server.close())
    const head = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'
    await exchange(head.repeat(count), count, (server.address() as AddressInfo).port)
    const between = (turnsAt.at(-1) as number) - (turnsAt[0] as number)
    // Without pauses, ten.
    assert.ok(between > 5 * count, `${between} turns`)
  })

  test('a body in chunks of one byte is kept in a few pieces, whole and in order', async (t) => {
    const sizes = [1, 1, 5_000, 4_096, 1, 0, ...Array<number>(20_000).fill(1)]
    const sent = sizes.map((size, i) => String(i % 10).repeat(size))
    const pieces: string[] = []
    const server = createServer((request, response) => {
      request.on('data', (piece) => pieces.push(String(piece))).on('end', () => response.end())
    })
    limitPipelining(server)
    await once(server.listen(0, '127.0.0.1'), 'listening')
    t.after(() => server.close())
    const chunks = sent.filter((text) => text !== '').map((text) => `${text.length.toString(16)}\r\n${text}\r\n`)
    const request = `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${chunks.join('')}0\r\n\r\n`
    await exchange(request, 1, (server.address() as AddressInfo).port)
    assert.equal(pieces.join(''), sent.join(''))
    assert.ok(pieces.length < 15, `${pieces.length} pieces`)
  })

  test('requests that arrive in many small pieces are answered like those that arrive at once', async () => {
    const socket = await openSocket(port)
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk
    })
    const bytes = Array.from({ length: 12 }, (_, i) => requests.signals?.of(`${i}`)).join('')
    for (let at = 0; at < bytes.length; at += 37) {
      await new Promise((resolve) => socket.write(bytes.slice(at, at + 37), resolve))
    }
    await eventually(() => assert.equal(received.match(/HTTP\/1\.1 201 /g)?.length, 12))
    socket.destroy()
  })

  test('the valid requests before a malformed one get their responses', async () => {
    const received = await exchange(`${'GET /healthz HTTP/1.1\r\n\r\n'.repeat(3)}nonsense\r\n\r\n`, 3)
    assert.equal(received.match(/HTTP\/1\.1 200/g)?.length, 3)
  })

  test('requests that a client sent ahead are dropped when it disconnects', async () => {
    const socket = await openSocket(port)
    const closed = new Promise((resolve) =>
      service.app.server.once('request', (request) => request.socket.once('close', resolve)),
    )
    handled = 0
    socket.write('GET /openapi.json HTTP/1.1\r\n\r\n'.repeat(1_000))
    await once(socket, 'data')
    socket.destroy()
    await closed
    assert.ok(handled > 0 && handled < 100, `${handled} requests were handled`)
  })

  test('of the connections that send far ahead, 256 are kept and others closed after their response; a few requests ahead are always kept', async (t) => {
    unanswered = 0
    const { promise: blocked, resolve: unblock } = Promise.withResolvers<void>()
    const { checkWritable } = service.store
    t.after(() => Object.assign(service.store, { checkWritable }))
    service.store.checkWritable = () => blocked
    const sockets: Socket[] = []
    const received: string[] = []
    let ended = 0
    for (let i = 0; i < 270; i++) {
      const socket = await openSocket(port)
      t.after(() => socket.destroy())
      sockets.push(socket)
      received.push('')
      socket.on('data', (chunk) => {
        received[i] = `${received[i]}${chunk}`
      })
      socket.once('end', () => ended++)
      const ahead = `GET /healthz HTTP/1.1\r\nFiller: ${'x'.repeat(2_000)}\r\n\r\n`
      socket.write(`GET /readyz HTTP/1.1\r\n\r\n${ahead.repeat(i < 260 ? 4 : 1)}`)
    }
    await eventually(() => assert.ok(unanswered >= 540))
    unblock()
    const responses = (count: number) =>
      received.filter((text) => text.split('HTTP/1.1 200').length - 1 === count).length
    await eventually(() => assert.deepEqual([responses(5), responses(2), responses(1), ended], [256, 10, 4, 4]))
  })
})
