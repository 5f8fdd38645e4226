import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import Fastify from 'fastify'
import { listen } from '../../src/service/listen.ts'

test('A long answer that was begun before the service stops is sent to its end, and its connection kept no longer', async () => {
  const app = Fastify({ keepAliveTimeout: 72_000, return503OnClosing: false, forceCloseConnections: 'idle' })
  app.get('/', (_request, reply) => reply.send(Readable.from(slowly(), { objectMode: false })))
  await listen(app, '127.0.0.1', 0)
  const { port } = app.server.address() as AddressInfo
  const agent = new Agent({ keepAlive: true })
  // They come in on different sockets.
  const answers = Array.from({ length: 4 }, async () => {
    const [response] = await once(get({ host: '127.0.0.1', port, agent }), 'response')
    return (await Array.fromAsync(response)).join('')
  })
  await pause(200)
  const start = performance.now()
  await app.close()
  assert.ok(performance.now() - start < 4_000)
  assert.deepEqual([...new Set(await Promise.all(answers))], ['x'.repeat(10)])
  agent.destroy()
})

async function* slowly(): AsyncGenerator<string> {
  for (let i = 0; i < 10; i++) {
    yield 'x'
    await pause(100)
  }
}
