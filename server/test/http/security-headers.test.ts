import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { describe, test } from 'node:test'
import { sqlite } from '../../../testing/engines.ts'
import { startServe } from '../../../testing/processes.ts'
import { useService } from '../../../testing/service.ts'
import { scriptPaths } from '../../src/http/docs/routes.ts'
import { pageHeaders } from '../../src/http/security-headers.ts'

const nosniff = 'x-content-type-options'
const transport = 'strict-transport-security'

describe('Security headers', () => {
  const service = useService(sqlite)

  test('every response says that its content type is not to be guessed, and that it is served over TLS', async () => {
    const tenant = await service.tenant('free', 'admin')
    const { app } = service
    const responses = await Promise.all([
      app.inject('/'),
      app.inject('/nothing'),
      app.inject('/docs'),
      app.inject('/openapi.json'),
      app.inject('/healthz'),
      app.inject('/readyz'),
      app.inject('/api/v1/usage'),
      app.inject({ method: 'POST', url: '/webhooks/x' }),
      app.inject({ url: `${tenant.path}/signals/export`, headers: tenant.headers }),
      app.inject({ url: '/api/v1/keys', headers: tenant.headers }),
      tenant.history(),
      tenant.signal({ value: 'positive' }),
      tenant.signal('nonsense'),
    ])
    for (const { headers, raw } of responses) {
      const { url } = raw.req as unknown as { url: string }
      assert.equal(headers[nosniff], 'nosniff', url)
      assert.equal(headers[transport], 'max-age=31536000', url)
    }
  })

  test('no page can be framed, and each page and file of one has the same headers against other sites', async () => {
    const { app } = service
    const accept = 'text/html'
    const paths = ['/', '/nothing', '/sign-in', '/prompts/x', '/favicon.ico', '/assets/nothing.js', '/docs', '/docs/']
    for (const url of [...paths, '/openapi.json', ...scriptPaths, '/demo/thumbs']) {
      const { headers } = await app.inject({ url, headers: { accept } })
      for (const [name, value] of Object.entries(pageHeaders)) assert.equal(headers[name.toLowerCase()], value, url)
      assert.match(String(headers['content-security-policy']), /default-src 'none';.*frame-ancestors 'none'/, url)
    }
  })

  test('a request that is not valid HTTP gets the header too', async (t) => {
    await service.app.listen({ port: 0, host: '127.0.0.1' })
    const socket = connect((service.app.server.address() as AddressInfo).port, '127.0.0.1')
    t.after(() => socket.destroy())
    socket.write('nonsense\r\n\r\n')
    const [response] = await once(socket, 'data')
    assert.match(String(response), /^HTTP\/1\.1 422 /)
    assert.match(String(response), /\r\nX-Content-Type-Options: nosniff\r\n/)
  })
})

describe('Security headers of a running service', () => {
  test('without https in PUBLIC_URL, no response promises TLS', async () => {
    const database = await sqlite.create()
    const running = await startServe({ DATABASE_URL: database.url, METRICS_PORT: '0' })
    const { headers } = await fetch(`${running.address}/healthz`)
    assert.equal(headers.get(nosniff), 'nosniff')
    assert.equal(headers.get(transport), null)
    await running.stop()
    await database.remove()
  })
})
