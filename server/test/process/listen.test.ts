import assert from 'node:assert/strict'
import dns from 'node:dns'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import { type AddressInfo, createServer, isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import Fastify from 'fastify'
import { pino } from 'pino'
import { eventually } from '../../../testing/eventually.ts'
import { openSocket } from '../../../testing/socket.ts'
import { listen } from '../../src/service/listen.ts'

const silent = pino({ level: 'silent' })

test('a response in progress when the service stops is sent to its end, then its connection closes', async (t) => {
  const app = Fastify({ keepAliveTimeout: 72_000, return503OnClosing: false, forceCloseConnections: 'idle' })
  let inProgress = 0
  app.get('/', (_request, reply) => {
    inProgress++
    return reply.send(Readable.from(slowly(), { objectMode: false }))
  })
  await listen(app, '127.0.0.1', 0, silent)
  const { port } = app.server.address() as AddressInfo
  const agent = new Agent({ keepAlive: true })
  t.after(() => agent.destroy())
  // Several connections, because the service listens on several sockets.
  const bodies = Array.from({ length: 4 }, async () => {
    const [response] = await once(get({ host: '127.0.0.1', port, agent }), 'response')
    return (await Array.fromAsync(response)).join('')
  })
  await eventually(() => assert.equal(inProgress, 4))
  const start = performance.now()
  await app.close()
  // Without closing, the connections would stay open for 72 s.
  assert.ok(performance.now() - start < 30_000)
  assert.deepEqual([...new Set(await Promise.all(bodies))], ['x'.repeat(10)])
})

test('a request on an idle connection just after the service began to stop gets a last response', async (t) => {
  const app = Fastify({ keepAliveTimeout: 72_000, return503OnClosing: false, forceCloseConnections: 'idle' })
  app.get('/', async () => 'x')
  await listen(app, '127.0.0.1', 0, silent)
  const { port } = app.server.address() as AddressInfo
  const request = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
  const clients = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const socket = await openSocket(port)
      t.after(() => socket.destroy())
      const client = { socket, received: '', closed: once(socket, 'close') }
      socket.on('data', (chunk) => {
        client.received += chunk
      })
      socket.write(request)
      await once(socket, 'data')
      return client
    }),
  )
  const closed = app.close()
  await eventually(() => !app.server.listening, { intervalMs: 1 })
  for (const { socket } of clients) socket.write(request)
  for (const client of clients) {
    await client.closed
    assert.equal(client.received.split('HTTP/1.1 200 OK').length - 1, 2)
    assert.match(client.received.slice(client.received.lastIndexOf('HTTP/1.1')), /connection: close/i)
  }
  await closed
})

test('the service stops at once while it still opens its sockets, and leaves none behind', async () => {
  const app = Fastify()
  await listen(app, '127.0.0.1', 0, silent)
  const { port } = app.server.address() as AddressInfo
  await app.close()
  await assert.rejects(fetch(`http://127.0.0.1:${port}/`))
  const free = createServer().listen({ host: '127.0.0.1', port })
  await once(free, 'listening')
  free.close()
})

test('one server with its limits has the connections to every address of localhost', {
  skip: !hasIpv6() && 'needs the address ::1',
}, async (t) => {
  // As on machines where localhost has both, whatever this one has.
  const resolve = (host: string) =>
    (host === 'localhost' ? ['127.0.0.1', '::1'] : [host]).map((address) => ({ address, family: isIP(address) }))
  t.mock.method(dns.promises, 'lookup', async (host: string) => resolve(host))
  t.mock.method(dns, 'lookup', (host: string, options: dns.LookupOptions, done: (...results: unknown[]) => void) => {
    const [first] = resolve(host)
    return options.all ? done(null, resolve(host)) : done(null, first?.address, first?.family)
  })
  syncBuiltinESMExports()
  t.after(syncBuiltinESMExports)
  const app = Fastify()
  t.after(() => app.close())
  app.get('/', async () => 'x')
  let requests = 0
  app.server.on('request', () => requests++)
  await listen(app, 'localhost', 0, silent)
  const { port } = app.server.address() as AddressInfo
  for (const host of ['127.0.0.1', '[::1]']) assert.equal((await fetch(`http://${host}:${port}/`)).status, 200)
  assert.equal(requests, 2)
  await app.close()
  for (const host of ['127.0.0.1', '[::1]']) await assert.rejects(fetch(`http://${host}:${port}/`))
})

function hasIpv6(): boolean {
  return Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'))
}

async function* slowly(): AsyncGenerator<string> {
  for (let i = 0; i < 10; i++) {
    yield 'x'
    await delay(100)
  }
}
