import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import Fastify from 'fastify'
import { pino } from 'pino'
import { eventually } from '../../../testing/eventually.ts'
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
  assert.ok(performance.now() - start < 4_000)
  assert.deepEqual([...new Set(await Promise.all(bodies))], ['x'.repeat(10)])
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

async function* slowly(): AsyncGenerator<string> {
  for (let i = 0; i < 10; i++) {
    yield 'x'
    await delay(100)
  }
}
