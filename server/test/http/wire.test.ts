import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { sqlite } from '../../../testing/engines.ts'
import { type Tenant, TestService } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'

/** Sends bytes over a real socket and gives everything that comes back until the service closes, or has answered. */
function exchange(port: number, bytes: string | Buffer, answers = 1): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    socket.on('error', reject)
    socket.on('close', () => resolve(received))
    socket.on('data', (chunk) => {
      received += chunk
      if ((received.match(/HTTP\/1\.1 /g)?.length ?? 0) >= answers && received.endsWith('}')) socket.end()
    })
  })
}

function parse(answer: string): { status: number; head: string; body: { error: { code: string; message: string } } } {
  const [head = '', body = ''] = answer.split('\r\n\r\n')
  return { status: Number(head.slice(9, 12)), head, body: JSON.parse(body) }
}

describe('On the wire', () => {
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

  test('answers malformed HTTP with the error body', async () => {
    const broken = [
      'nonsense\r\n\r\n',
      'GET /healthz HTTP/9.9\r\n\r\n',
      'GET /healthz HTTP/1.1\r\nbad header\r\n\r\n',
      `GET /healthz HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
      `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
      'POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n',
      'POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: five\r\n\r\n',
      Buffer.from([0x16, 0x03, 0x01, 0x00, 0xa5, 0x01, 0x00]),
    ]
    for (const bytes of broken) {
      const { status, body, head } = parse(await exchange(port, bytes))
      assert.equal(status, 422, bytes.toString().slice(0, 60))
      assert.equal(body.error.code, 'validation_error')
      assert.ok(body.error.message.length > 0)
      assert.match(head, /Connection: close/i)
      assert.match(head, /X-Request-Id: \S+/i)
    }
  })

  test('answers malformed HTTP on a connection that was used before', async () => {
    const socket = connect(port, '127.0.0.1')
    const answer = async (bytes: string) => {
      socket.write(bytes)
      const [chunk] = await once(socket, 'data')
      return String(chunk)
    }
    assert.match(await answer('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'), /^HTTP\/1\.1 200 /)
    assert.match(await answer('nonsense\r\n\r\n'), /^HTTP\/1\.1 422 /)
    socket.destroy()
  })

  test('never answers one request with what is wrong with the next', async () => {
    const signal =
      `POST ${tenant.path}/signals HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tenant.key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: 20\r\n\r\n{"value":"positive"}`
    const answers = await exchange(port, `${signal}nonsense\r\n\r\n`, 2)
    assert.match(answers, /"value":"positive"/)
    assert.match(answers, /^HTTP\/1\.1 201 /)
    assert.doesNotMatch(answers, / 422 /)
  })

  test('answers no request that is hidden in the body of another, however its length is told', async () => {
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
      const answer = await exchange(port, `${head}${rest}${hidden}`, 2)
      assert.equal(answer.match(/HTTP\/1\.1 /g)?.length, 1, JSON.stringify(rest))
      assert.equal(parse(answer).status, 422, JSON.stringify(rest))
    }
    assert.equal(await tenant.used(), before)
    const answers = await exchange(port, `${head}Transfer-Encoding: chunked\r\n\r\n${chunks}${hidden}`, 2)
    assert.deepEqual(answers.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 201', 'HTTP/1.1 200'], 'the attempt itself is wrong')
  })

  test('unpacks nothing: a compressed body is refused as it is', async () => {
    const bomb = gzipSync(Buffer.alloc(8 * 1024 * 1024, ' '))
    for (const encoding of ['gzip', 'br', 'deflate', 'identity']) {
      const response = await tenant.signal(bomb, { 'content-encoding': encoding })
      assert.equal(response.statusCode, 422, encoding)
      assert.equal(response.json().error.message, 'The body is not valid UTF-8')
    }
  })

  test('serves a request without Host, and with an Expect it does not know', async () => {
    assert.match(await exchange(port, 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n'), /^HTTP\/1\.1 200/)
    const expecting = 'GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\n\r\n'
    assert.match(await exchange(port, expecting), /^HTTP\/1\.1 200/)
  })

  test('answers methods that nobody uses like every other: 401 without a key', async () => {
    for (const method of ['PROPFIND', 'TRACE', 'QUERY', 'LINK']) {
      const { status } = parse(await exchange(port, `${method} ${tenant.path}/history HTTP/1.1\r\nHost: x\r\n\r\n`))
      assert.equal(status, 401, method)
    }
  })

  test('gives slow clients a time after which their connection is taken back', async () => {
    const { headersTimeout, requestTimeout, keepAliveTimeout } = service.app.server
    assert.deepEqual(
      { headersTimeout, requestTimeout, keepAliveTimeout },
      { headersTimeout: 15_000, requestTimeout: 30_000, keepAliveTimeout: 72_000 },
    )
  })

  test('tells a client that stops in the middle of a request that its time is up', async () => {
    const connected = once(service.app.server, 'connection')
    const head = `POST ${tenant.path}/signals HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tenant.key}\r\n`
    const answer = exchange(port, `${head}Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{`)
    const [socket] = await connected
    await new Promise((resolve) => setTimeout(resolve, 50))
    // As node does it when the time is over.
    service.app.server.emit('clientError', Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket)
    const { status, body } = parse(await answer)
    assert.equal(status, 422)
    assert.equal(body.error.message, 'The request did not arrive in time')
  })

  test('refuses a key that is revoked while its body is still on the way', async () => {
    const other = await service.tenant()
    const socket = connect(port, '127.0.0.1')
    socket.write(
      `POST ${other.path}/signals HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${other.key}\r\n` +
        `Content-Type: application/json\r\nContent-Length: 20\r\n\r\n{"value":`,
    )
    await new Promise((resolve) => setTimeout(resolve, 100))
    const [key] = await service.store.keys.list(other.organisation.id)
    await service.store.keys.revoke(key?.id as number, service.now, operator)
    await new Promise((resolve) => setTimeout(resolve, 500))
    socket.write('"positive"}')
    const [answer] = await once(socket, 'data')
    socket.destroy()
    assert.match(String(answer), /^HTTP\/1\.1 401 /)
    assert.equal(await other.used(), 0)
  })

  test('gives every answer a request id of its own, or the one it was given', async () => {
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

  test('takes a body that arrives in pieces', async () => {
    const body = '{"value":"positive","metadata":{"emoji":"😀"}}'
    const bytes = Buffer.from(body)
    const head =
      `POST ${tenant.path}/signals HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tenant.key}\r\n` +
      `Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`
    // The emoji's four bytes come in different chunks.
    const cut = bytes.indexOf(Buffer.from('😀')) + 2
    const chunks = [bytes.subarray(0, cut), bytes.subarray(cut)].flatMap((part) => [
      Buffer.from(`${part.length.toString(16)}\r\n`),
      part,
      Buffer.from('\r\n'),
    ])
    const answer = await exchange(port, Buffer.concat([Buffer.from(head), ...chunks, Buffer.from('0\r\n\r\n')]))
    assert.match(answer, /^HTTP\/1\.1 201/)
  })

  test('answers what it does not know outside the interface without asking for a key', async () => {
    const response = await fetch(`http://127.0.0.1:${port}/nothing`)
    assert.equal(response.status, 404)
    assert.equal(((await response.json()) as { error: { code: string } }).error.code, 'not_found')
  })
})
