import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { sqlite } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { type Tenant, TestService } from '../../../testing/service.ts'
import { openSocket } from '../../../testing/socket.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { slowBodyMs } from '../../src/http/keys/required.ts'

/** Sends bytes over a real socket and returns everything received until the service closes it or has sent all responses. */
function exchange(port: number, bytes: string | Buffer, responses = 1): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    socket.on('error', reject)
    socket.on('close', () => resolve(received))
    socket.on('data', (chunk) => {
      received += chunk
      if ((received.match(/HTTP\/1\.1 /g)?.length ?? 0) >= responses && received.endsWith('}')) socket.end()
    })
  })
}

function parse(response: string): { status: number; head: string; body: { error: { code: string; message: string } } } {
  const [head = '', body = ''] = response.split('\r\n\r\n')
  return { status: Number(head.slice(9, 12)), head, body: JSON.parse(body) }
}

describe('HTTP on a real socket', () => {
  const service = new TestService()
  let port = 0
  let tenant: Tenant
  before(async () => {
    await service.open(sqlite)
    await service.app.listen({ port: 0, host: '127.0.0.1' })
    port = (service.app.server.address() as AddressInfo).port
    tenant = await service.tenant()
  })
  after(() => service.close())

  test('malformed HTTP gets the error body', async () => {
    const malformed = [
      'nonsense\r\n\r\n',
      'GET /healthz HTTP/9.9\r\n\r\n',
      'GET /healthz HTTP/1.1\r\nbad header\r\n\r\n',
      `GET /healthz HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
      `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
      'POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n',
      'POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: five\r\n\r\n',
      Buffer.from([0x16, 0x03, 0x01, 0x00, 0xa5, 0x01, 0x00]),
    ]
    for (const bytes of malformed) {
      const { status, body, head } = parse(await exchange(port, bytes))
      assert.equal(status, 422, bytes.toString().slice(0, 60))
      assert.equal(body.error.code, 'validation_error')
      assert.ok(body.error.message.length > 0)
      assert.match(head, /Connection: close/i)
      assert.match(head, /X-Request-Id: \S+/i)
    }
  })

  test('a request that announces JSON and has no body is answered at once', async () => {
    for (const path of ['/api/v1/votes', '/mcp', `${tenant.path}/signals`]) {
      const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tenant.key}\r\nContent-Type: application/json\r\n`
      const { status, body } = parse(await exchange(port, `${head}\r\n`))
      assert.equal(status, 422, path)
      assert.match(body.error.message, /empty|not valid JSON/, path)
    }
  })

  test('malformed HTTP on a reused connection gets the error body', async (t) => {
    const socket = connect(port, '127.0.0.1')
    t.after(() => socket.destroy())
    const respond = async (bytes: string) => {
      socket.write(bytes)
      const [chunk] = await once(socket, 'data')
      return String(chunk)
    }
    assert.match(await respond('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'), /^HTTP\/1\.1 200 /)
    assert.match(await respond('nonsense\r\n\r\n'), /^HTTP\/1\.1 422 /)
  })

  test('a malformed request never replaces the response to the request before it', async () => {
    const signal =
      `POST ${tenant.path}/signals HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tenant.key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: 20\r\n\r\n{"value":"positive"}`
    const responses = await exchange(port, `${signal}nonsense\r\n\r\n`, 2)
    assert.match(responses, /"value":"positive"/)
    assert.match(responses, /^HTTP\/1\.1 201 /)
    assert.doesNotMatch(responses, / 422 /)
  })

  test('a request smuggled in the body of another is never answered, however its length is encoded', async () => {
    const head =
      `POST ${tenant.path}/signals HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tenant.key}\r\n` +
      'Content-Type: application/json\r\n'
    const hidden = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'
    const body = '{"value":"positive"}'
    const chunks = `14\r\n${body}\r\n0\r\n\r\n`
    const ambiguous = [
      `Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`,
      `Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n${chunks}`,
      `Content-Length: 20\r\nContent-Length: 5\r\n\r\n${body}`,
      `Content-Length: 20, 5\r\n\r\n${body}`,
      `Content-Length: +20\r\n\r\n${body}`,
      `Content-Length: 0x14\r\n\r\n${body}`,
      `Content-Length : 20\r\n\r\n${body}`,
      `Transfer-Encoding: xchunked\r\n\r\n${chunks}`,
      `Transfer-Encoding : chunked\r\n\r\n${chunks}`,
      `Transfer-Encoding: chunked, identity\r\n\r\n${chunks}`,
      `Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n${chunks}`,
      `Transfer-Encoding:\x0bchunked\r\n\r\n${chunks}`,
      `Transfer-Encoding: chunked\r\n\r\n0x${chunks}`,
      `Transfer-Encoding: chunked\r\n\r\n${chunks.replace('14', '14;a=\n')}`,
      `Transfer-Encoding: chunked\r\n\r\n${chunks.replaceAll('\r', '')}`,
      `Content-Length: 20\nX: y\n\n${body}`,
      `X: a\rContent-Length: 20\r\n\r\n${body}`,
    ]
    const before = await tenant.used()
    for (const rest of ambiguous) {
      const response = await exchange(port, `${head}${rest}${hidden}`, 2)
      assert.equal(response.match(/HTTP\/1\.1 /g)?.length, 1, JSON.stringify(rest))
      assert.equal(parse(response).status, 422, JSON.stringify(rest))
    }
    assert.equal(await tenant.used(), before)
    // The same request with a valid length gets both responses, so the attempts above fail for the right reason.
    const responses = await exchange(port, `${head}Transfer-Encoding: chunked\r\n\r\n${chunks}${hidden}`, 2)
    assert.deepEqual(responses.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 201', 'HTTP/1.1 200'])
  })

  test('a compressed body is rejected without being decompressed', async () => {
    const bomb = gzipSync(Buffer.alloc(8 * 1024 * 1024, ' '))
    for (const encoding of ['gzip', 'br', 'deflate', 'identity']) {
      const response = await tenant.signal(bomb, { 'content-encoding': encoding })
      assert.equal(response.statusCode, 422, encoding)
      assert.equal(response.json().error.message, 'The body is not valid UTF-8')
    }
  })

  test('a request without Host or with an unknown Expect is served', async () => {
    assert.match(await exchange(port, 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n'), /^HTTP\/1\.1 200/)
    const expecting = 'GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\n\r\n'
    assert.match(await exchange(port, expecting), /^HTTP\/1\.1 200/)
  })

  test('unusual methods get 401 without a key', async () => {
    for (const method of ['PROPFIND', 'TRACE', 'QUERY', 'LINK']) {
      const { status } = parse(await exchange(port, `${method} ${tenant.path}/history HTTP/1.1\r\nHost: x\r\n\r\n`))
      assert.equal(status, 401, method)
    }
  })

  test('slow clients are disconnected after a timeout', async () => {
    const { headersTimeout, requestTimeout, timeout } = service.app.server
    assert.deepEqual(
      { headersTimeout, requestTimeout, timeout },
      { headersTimeout: 15_000, requestTimeout: 30_000, timeout: 73_000 },
    )
    assert.match(await exchange(port, 'GET /healthz HTTP/1.1\r\n\r\n'), /\r\nKeep-Alive: timeout=72\r\n/)
    assert.equal(service.app.server.keepAliveTimeout, 0)
  })

  test('a client that stops in the middle of a request gets an error about the timeout', async () => {
    const received = once(service.app.server, 'request')
    const head = `POST ${tenant.path}/signals HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tenant.key}\r\n`
    const response = exchange(port, `${head}Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{`)
    const [{ socket }] = await received
    // What Node does when the timeout expires.
    service.app.server.emit('clientError', Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket)
    const { status, body } = parse(await response)
    assert.equal(status, 422)
    assert.equal(body.error.message, 'The request did not arrive in time')
  })

  test('a connection on which nothing was sent is closed without a response, which would be taken for the next one', async () => {
    const connected = once(service.app.server, 'connection')
    const received = exchange(port, '')
    const [socket] = (await connected) as [Socket]
    service.app.server.emit('clientError', Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket)
    assert.equal(await received, '')
  })

  test('a request that arrived while the process was busy is not late', async (t) => {
    for (const [name, started, rest] of [
      ['headers', '', 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'],
      ['the rest of the headers', 'GET /healthz HT', 'TP/1.1\r\nHost: x\r\n\r\n'],
      ['body', 'POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n', '{}'],
    ] as const) {
      const connected = once(service.app.server, 'connection')
      const client = await openSocket(port)
      t.after(() => client.destroy())
      const [socket] = (await connected) as [Socket]
      client.write(started)
      await eventually(() => assert.equal(socket.bytesRead, started.length))
      // In one turn, before the service reads what has arrived: what Node does if the process was busy for longer than the timeout.
      client.write(rest)
      service.app.server.emit('clientError', Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket)
      assert.match(String((await once(client, 'data'))[0]), /^HTTP\/1\.1 (200|404) /, name)
    }
  })

  test('a key that is revoked while its request body arrives is rejected', async (t) => {
    const other = await service.tenant()
    const [key] = await service.store.keys.list(other.organisation.id)
    const keyId = key?.id as number
    const socket = connect(port, '127.0.0.1')
    t.after(() => socket.destroy())
    socket.write(
      `POST ${other.path}/signals HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${other.key}\r\n` +
        `Content-Type: application/json\r\nContent-Length: 20\r\n\r\n{"value":`,
    )
    await eventually(async () => {
      await service.lastUsed.flush()
      return (await service.store.keys.find(keyId))?.lastUsedAt !== null
    })
    await service.store.keys.revoke(keyId, service.now, operator)
    // The service measures how long the body takes, so the test has to take that long.
    await pause(slowBodyMs + 50)
    socket.write('"positive"}')
    const [response] = await once(socket, 'data')
    assert.match(String(response), /^HTTP\/1\.1 401 /)
    assert.equal(await other.used(), 0)
  })

  test('every response has a new request ID, or a valid one that the client sent', async () => {
    const url = `http://127.0.0.1:${port}/api/v1/x`
    const ids = new Set<string | null>()
    for (let i = 0; i < 3; i++) ids.add((await fetch(url)).headers.get('x-request-id'))
    assert.equal(ids.size, 3)
    const given = await fetch(url, { headers: { 'x-request-id': 'trace-1.a_b' } })
    assert.equal(given.headers.get('x-request-id'), 'trace-1.a_b')
    const hostile = await fetch(url, { headers: { 'x-request-id': 'a" <b>' } })
    assert.notEqual(hostile.headers.get('x-request-id'), 'a" <b>')
    assert.doesNotMatch(await given.text(), /trace-1/)
  })

  test('a body that arrives in pieces is accepted', async () => {
    const body = '{"value":"positive","metadata":{"emoji":"😀"}}'
    const bytes = Buffer.from(body)
    const head =
      `POST ${tenant.path}/signals HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tenant.key}\r\n` +
      `Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`
    // Splits the emoji's four bytes across two chunks.
    const cut = bytes.indexOf(Buffer.from('😀')) + 2
    const chunks = [bytes.subarray(0, cut), bytes.subarray(cut)].flatMap((part) => [
      Buffer.from(`${part.length.toString(16)}\r\n`),
      part,
      Buffer.from('\r\n'),
    ])
    const response = await exchange(port, Buffer.concat([Buffer.from(head), ...chunks, Buffer.from('0\r\n\r\n')]))
    assert.match(response, /^HTTP\/1\.1 201/)
  })

  test('an unknown path outside the API gets 404 without a key', async () => {
    const response = await fetch(`http://127.0.0.1:${port}/nothing`)
    assert.equal(response.status, 404)
    assert.equal(((await response.json()) as { error: { code: string } }).error.code, 'not_found')
  })
})
