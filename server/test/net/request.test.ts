import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { describe, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { onTestEnd } from '../../../testing/cleanup.ts'
import { createCertificate, startReceiver } from '../../../testing/receiver.ts'
import { type Network, type RequestOptions, sendRequest } from '../../src/net/request.ts'
import { version } from '../../src/version.ts'

const open: Network = { allowPrivate: true, allowHttp: true }
const strict: Network = { allowPrivate: false, allowHttp: false }
const unreachable = {
  kind: 'failure',
  status: null,
  reason: 'The host cannot be reached, or its address is not public.',
}

function post(network: Network, url: string, options: Partial<RequestOptions> = {}) {
  return sendRequest(network, url, { method: 'POST', body: '{}', ...options })
}

/** A network whose names all lead to one address. */
function resolving(network: Network, ...addresses: string[]) {
  const hosts: string[] = []
  const lookUp = async (host: string) => {
    hosts.push(host)
    return addresses
  }
  return { ...network, lookUp, hosts }
}

describe('An outgoing request', () => {
  test('a request carries method, path, headers, body and user agent, and returns status, headers and body', async () => {
    const receiver = await startReceiver((response) => response.writeHead(201, { 'x-answer': 'yes' }).end('créé'))
    const headers = { 'content-type': 'application/json' }
    const result = await post(open, `${receiver.url}a/b?c=%20d`, { headers, body: '{"é":1}' })
    assert.ok(result.kind === 'response')
    const { status, body, isTruncated } = result
    assert.deepEqual([status, result.headers['x-answer'], body, isTruncated], [201, 'yes', 'créé', false])
    const [request] = receiver.received
    assert.ok(request !== undefined)
    assert.deepEqual([request.method, request.path, request.body], ['POST', '/a/b?c=%20d', '{"é":1}'])
    assert.equal(request.headers['user-agent'], `promptledger/${version}`)
    assert.equal(request.headers['content-type'], 'application/json')
    assert.equal(request.headers.connection, 'close')
  })

  test('a response with an error status is returned as it is', async () => {
    const receiver = await startReceiver((response) => response.writeHead(500).end('broken'))
    const result = await sendRequest(open, receiver.url, { method: 'GET' })
    assert.ok(result.kind === 'response')
    assert.deepEqual([result.status, result.body], [500, 'broken'])
  })

  test('a request resolves the host once and connects to the address that was checked', async () => {
    const receiver = await startReceiver(undefined, { host: '127.0.0.2' })
    const network = resolving(open, '127.0.0.2')
    // The system resolves this name to 127.0.0.1, where nothing listens on this port.
    const result = await post(network, `http://localhost:${receiver.port}/`)
    assert.equal(result.kind, 'response')
    assert.deepEqual(network.hosts, ['localhost'])
    assert.equal(receiver.received[0]?.headers.host, `localhost:${receiver.port}`)
  })

  test('a request tries every checked address of the host', async () => {
    const receiver = await startReceiver(undefined, { host: '127.0.0.2' })
    const result = await post(resolving(open, '127.0.0.3', '127.0.0.2'), `http://hooks.example:${receiver.port}/`)
    assert.equal(result.kind, 'response')
  })
})

describe('A request to a private address', () => {
  test('no request is sent to a private address, whatever form the address has', async () => {
    const receiver = await startReceiver()
    const hosts = ['127.0.0.1', '2130706433', '0177.0.0.1', '0x7f.1', '127.1', '0', '10.0.0.5', '169.254.169.254']
    const ipv6 = [
      '[::1]',
      '[::]',
      '[::ffff:127.0.0.1]',
      '[fd00::1]',
      '[fe80::1]',
      '[64:ff9b::127.0.0.1]',
      '[2002:7f00:1::]',
    ]
    for (const host of [...hosts, ...ipv6, '127。0。0。1', '⑫7.0.0.1', 'LOCALHOST']) {
      const network = host === 'LOCALHOST' ? resolving(strict, '127.0.0.1') : strict
      for (const scheme of ['https', 'http']) {
        const result = await post({ ...network, allowHttp: true }, `${scheme}://${host}:${receiver.port}/`)
        assert.deepEqual(result, unreachable, `${scheme}://${host}`)
      }
    }
    assert.deepEqual(receiver.received, [])
  })

  test('no request is sent to a name that resolves to a private address, even beside a public one', async () => {
    for (const addresses of [['127.0.0.1'], ['8.8.8.8', '10.0.0.1'], ['2606:50c0:8000::153', '::1'], []]) {
      const result = await post(resolving(strict, ...addresses), 'https://hooks.example/')
      assert.deepEqual(result, unreachable, addresses.join())
    }
  })

  test('a private address, an unknown name and a closed port fail with the same text', async () => {
    const failing = { ...open, lookUp: () => Promise.reject(new Error('ENOTFOUND')) }
    assert.deepEqual(await post(failing, 'https://unknown.example/'), unreachable)
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    server.close()
    await once(server, 'close')
    assert.deepEqual(await post(open, `http://127.0.0.1:${port}/`), unreachable)
  })
})

describe('The URL of a request', () => {
  test('a URL must be https, without user name and password', async () => {
    const receiver = await startReceiver()
    const reason = async (network: Network, url: string) => {
      const result = await post(network, url)
      return result.kind === 'failure' ? result.reason : result.status
    }
    assert.equal(
      await reason({ ...open, allowHttp: false }, receiver.url),
      'Plain http:// is not allowed. Use https://.',
    )
    const withUser = receiver.url.replace('http://', 'http://user:secret@')
    assert.equal(await reason(open, withUser), 'The URL must not contain a user name or password.')
    for (const url of ['ftp://127.0.0.1/', 'file:///etc/passwd', 'hooks.example', 'https://', 'https://a b/', '']) {
      assert.equal(await reason(open, url), 'The URL is invalid.', url)
    }
    assert.deepEqual(receiver.received, [])
  })
})

describe('A receiver', () => {
  test('a redirect is not followed', async () => {
    const inside = await startReceiver()
    const receiver = await startReceiver((response) => response.writeHead(307, { location: inside.url }).end())
    const reason = 'The host redirects (307). Redirects are not followed: use the final URL.'
    assert.deepEqual(await post(open, receiver.url), { kind: 'failure', status: 307, reason })
    assert.deepEqual(inside.received, [])
  })

  test('a receiver that hangs or responds byte by byte is cut off after the time limit', async () => {
    const receiver = await startReceiver(() => {})
    const options = { timeoutMs: 1_000 }
    const reason = 'No complete response within 1 s.'
    assert.deepEqual(await post(open, receiver.url, options), { kind: 'failure', status: null, reason })
    let ended: Promise<unknown> | undefined
    receiver.respondWith((response, { socket }) => {
      const drip = setInterval(() => response.write('.'), 20)
      ended = new Promise((resolve) => socket.on('close', resolve)).then(() => clearInterval(drip))
    })
    assert.deepEqual(await post(open, receiver.url, options), { kind: 'failure', status: 200, reason })
    await ended
  })

  test('a receiver that sends its headers byte by byte, or never finishes the handshake, is cut off after the time limit', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.write('HTTP/1.1 200 OK\r\n')
      const drip = setInterval(() => socket.write('a'), 20)
      socket.on('close', () => clearInterval(drip))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestEnd(() => server.close())
    const { port } = server.address() as AddressInfo
    const expected = { kind: 'failure', status: null, reason: 'No complete response within 1 s.' }
    assert.deepEqual(await post(open, `http://127.0.0.1:${port}/`, { timeoutMs: 1_000 }), expected)
    const silent = createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    onTestEnd(() => silent.close())
    const tlsUrl = `https://127.0.0.1:${(silent.address() as AddressInfo).port}/`
    assert.deepEqual(await post(open, tlsUrl, { timeoutMs: 1_000 }), expected)
  })

  test('a host whose name servers hang is cut off after the time limit', async () => {
    const network = { ...open, lookUp: () => new Promise<string[]>(() => {}) }
    const startedAt = performance.now()
    assert.deepEqual(await post(network, 'https://hooks.example/', { timeoutMs: 200 }), unreachable)
    assert.ok(performance.now() - startedAt < 5_000)
  })

  test('of an endless response, 4 KB are read', async () => {
    let sent = 0
    let ended: Promise<unknown> | undefined
    const receiver = await startReceiver((response, { socket }) => {
      ended = new Promise((resolve) => socket.on('close', resolve))
      const chunk = Buffer.alloc(65_536, 'x')
      const pump = () => {
        while (!socket.destroyed) {
          sent += chunk.length
          if (!response.write(chunk)) return response.once('drain', pump)
        }
      }
      pump()
    })
    const result = await post(open, receiver.url)
    assert.ok(result.kind === 'response')
    assert.deepEqual([result.body.length, result.isTruncated], [4_096, true])
    await ended
    assert.ok(sent < 20_000_000, `${sent} bytes were accepted`)
  })

  test('a receiver that closes the connection or speaks no HTTP fails with a reason', async () => {
    const reason = 'The host closed the connection before the response was complete.'
    const answers = ['', 'SSH-2.0-OpenSSH_9.6\r\n', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc']
    const upgrade = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
    for (const answer of [...answers, upgrade]) {
      const server = createServer((socket) => {
        socket.on('error', () => {})
        socket.once('data', () => socket.end(answer))
      }).listen(0, '127.0.0.1')
      await once(server, 'listening')
      onTestEnd(() => server.close())
      const result = await post(open, `http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
      assert.ok(result.kind === 'failure', answer)
      assert.equal(result.reason, reason, answer)
    }
  })
})

describe('TLS', () => {
  test('TLS is verified against the host name of the URL, not against the address', async () => {
    const certificate = createCertificate('hooks.example')
    const receiver = await startReceiver(undefined, { tls: certificate })
    const network = resolving(open, '127.0.0.1')
    const kindOf = async (host: string) => {
      const result = await post(network, `https://${host}:${receiver.port}/`)
      return result.kind === 'failure' ? result.reason : result.status
    }
    const insecure = 'No secure connection to the host could be made. Its certificate must be valid for the host name.'
    assert.equal(await kindOf('hooks.example'), insecure, 'the certificate is not trusted yet')
    const trusted = getCACertificates()
    onTestEnd(() => setDefaultCACertificates(trusted))
    setDefaultCACertificates([...trusted, certificate.cert])
    assert.equal(await kindOf('hooks.example'), 200)
    assert.equal(await kindOf('other.example'), insecure)
    assert.equal(receiver.received.length, 1)
  })

  test('a host that does not speak TLS fails with a reason', async () => {
    const receiver = await startReceiver()
    const result = await post(open, receiver.url.replace('http:', 'https:'))
    assert.ok(result.kind === 'failure')
    assert.match(result.reason, /^No secure connection/)
  })
})
