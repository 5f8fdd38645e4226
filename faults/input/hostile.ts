import { gzipSync } from 'node:zlib'
import fc, { type Arbitrary } from 'fast-check'
import { texts } from './values.ts'
import type { World } from './world.ts'

/** Bytes that nobody sends who means well. */
export interface Hostile {
  name: string
  pieces: Buffer[]
  /** Milliseconds between the pieces. */
  pause: number
  /** What it asks for, one after the other; null where that is for the service to say. */
  asked: { method: string; target: string }[] | null
  /** At most so many answers. */
  most: number
  /** Whether it may be refused as no proper HTTP, and whether it has to be. */
  broken: 'never' | 'maybe' | 'always'
  /** What the client does after the last piece: waits, sends no more, or is gone. */
  ending: 'waits' | 'stops' | 'leaves'
}

type Bytes = string | Buffer

/** Everything hostile, of one kind as often as of any other. */
export function hostileOnes(world: World): Arbitrary<Hostile> {
  const [prompt = ''] = world.ample.prompts
  const target = `/api/v1/prompts/${prompt}/signals`
  const history = `/api/v1/prompts/${prompt}/history`
  const key = `Authorization: Bearer ${world.keys.admin}`
  const json = 'Content-Type: application/json'
  const signal = '{"value":"positive"}'
  const usage = `GET /api/v1/usage HTTP/1.1\r\nHost: x\r\n${key}\r\n\r\n`

  const post = (headers: string[], body: Bytes): Buffer =>
    joined(`POST ${target} HTTP/1.1\r\n`, ['Host: x', key, json, ...headers, '', ''].join('\r\n'), body)
  const posted = (name: string, body: Bytes, headers: string[] = []): Hostile =>
    hostile(name, [post([`Content-Length: ${Buffer.byteLength(body)}`, ...headers], body)], {
      asked: [{ method: 'POST', target }],
      broken: 'never',
    })
  const chunked = (name: string, body: Bytes, changed: Partial<Hostile>): Hostile =>
    hostile(name, [post(['Transfer-Encoding: chunked'], body)], { asked: [{ method: 'POST', target }], ...changed })

  return fc.oneof(
    // No request at all.
    fc
      .oneof(
        fc.constantFrom(...brokenLines.map((line) => joined(line))),
        fc.uint8Array({ minLength: 1, maxLength: 200 }).map((bytes) => joined('\x01', Buffer.from(bytes), '\r\n\r\n')),
        texts.map((text) => joined(`GET /${text} x HTTP/1.1\r\n\r\n`)),
      )
      .map((bytes) => hostile('broken line', [bytes], { broken: 'always', ending: 'stops' })),
    fc
      .constantFrom(...brokenHeaders)
      .map((line) => `GET /healthz HTTP/1.1\r\nHost: x\r\n${line}\r\n\r\n`)
      .map((text) => hostile('broken header', [Buffer.from(text, 'latin1')], { broken: 'maybe', ending: 'stops' })),
    fc
      .tuple(fc.constantFrom('/\0', '/a\0b', '/\x01', '/\x7f', '/a\tb', '/\x0b'), fc.constantFrom('GET', 'POST'))
      .map(([path, method]) => `${method} ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
      .map((text) =>
        hostile('control in the address', [Buffer.from(text, 'latin1')], { broken: 'maybe', ending: 'stops' }),
      ),
    // Too much.
    fc.constantFrom(17_000, 20_000, 200_000, 1_000_000).map((length) =>
      hostile('huge header', [Buffer.from(`GET /healthz HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(length)}\r\n\r\n`)], {
        broken: 'always',
      }),
    ),
    fc.constantFrom(100, 1_000, 1_900, 2_500, 20_000).map((count) =>
      hostile('many headers', [Buffer.from(`GET /healthz HTTP/1.1\r\n${'a: b\r\n'.repeat(count)}\r\n`)], {
        asked: [{ method: 'GET', target: '/healthz' }],
        broken: 'maybe',
      }),
    ),
    fc.constantFrom(15_000, 20_000, 100_000).map((length) => {
      const address = `/api/v1/prompts/${'p'.repeat(length)}/history`
      return hostile('huge address', [Buffer.from(`GET ${address} HTTP/1.1\r\nHost: x\r\n${key}\r\n\r\n`)], {
        asked: [{ method: 'GET', target: address }],
        broken: 'maybe',
      })
    }),
    // Bodies whose length is a lie.
    fc.constantFrom(...badChunks).map((body) => chunked('bad chunk', body, { broken: 'always', ending: 'stops' })),
    fc
      .tuple(
        fc.constantFrom(...doubleLengths),
        fc.constantFrom(usage, '', '0\r\n\r\n', `5\r\nhello\r\n0\r\n\r\n${usage}`),
      )
      .map(([headers, smuggled]) =>
        hostile('two lengths', [post(headers, smuggled)], {
          asked: [{ method: 'POST', target }],
          broken: 'maybe',
          ending: 'stops',
        }),
      ),
    fc.nat({ max: 15 }).map((length) =>
      hostile('truncated body', [post(['Content-Length: 20'], signal.slice(0, length))], {
        broken: 'always',
        ending: 'stops',
      }),
    ),
    fc.nat({ max: 200 }).map((length) =>
      hostile('client leaves', [post(['Content-Length: 20'], '{"value":"neither"}').subarray(0, length)], {
        ending: 'leaves',
      }),
    ),
    // Proper HTTP, in odd ways.
    fc.array(fc.constantFrom('usage', 'signal', 'nothing', 'health'), { minLength: 2, maxLength: 12 }).map((all) => {
      const requests = {
        usage: { method: 'GET', target: '/api/v1/usage', bytes: joined(usage) },
        signal: { method: 'POST', target, bytes: post(['Content-Length: 20'], signal) },
        nothing: {
          method: 'HEAD',
          target: '/api/v1/x',
          bytes: joined(`HEAD /api/v1/x HTTP/1.1\r\nHost: x\r\n${key}\r\n\r\n`),
        },
        health: { method: 'GET', target: '/healthz', bytes: joined('GET /healthz HTTP/1.1\r\n\r\n') },
      }
      const asked = all.map((name) => requests[name])
      return hostile('pipeline', [joined(...asked.map(({ bytes }) => bytes))], {
        asked,
        most: asked.length,
        broken: 'never',
      })
    }),
    fc
      .constantFrom(
        usage,
        'GET /healthz HTTP/1.1\r\n\r\n',
        'GET /healthz HTTP/1.0\r\n\r\n',
        '\r\n\r\nGET /healthz HTTP/1.1\r\n\r\n',
        '',
      )
      .map((text) => hostile('half-closed', [Buffer.from(text)], { ending: 'stops' })),
    fc
      .constantFrom(
        `GET http://127.0.0.1/api/v1/usage HTTP/1.1\r\nHost: x\r\n${key}\r\n\r\n`,
        'GET /\r\n\r\n',
        'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n',
        'CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: x\r\n\r\n',
        'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n',
        'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\n\r\n',
        'GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n',
        'GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\n\r\n',
        'GET /healthz HTTP/1.1\r\nHost: x\r\nRange: bytes=0-1,1-2,-5\r\nTE: trailers\r\nConnection: close, x\r\n\r\n',
      )
      .map((text) => hostile('odd request', [Buffer.from(text)], { broken: 'maybe' })),
    fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 3, maxLength: 8 }).map((sizes) => {
      const body = Buffer.from('{"value":"positive","metadata":{"smile":"😀"}}')
      return chunked('small chunks', joined(...inChunks(body, sizes), '0\r\nX-Trailer: y\r\n\r\n'), { broken: 'never' })
    }),
    fc.constant(posted('expecting', signal, ['Expect: 100-continue'])),
    fc.constant(posted('gzip', gzipSync(signal), ['Content-Encoding: gzip'])),
    // JSON that hurts.
    fc.constantFrom(...hurtingBodies()).map(([name, body]) => posted(name, body)),
    // A request in which a few bytes are others. It records nothing, whatever becomes of it.
    fc
      .tuple(
        fc.constantFrom(
          post(['Content-Length: 19'], '{"value":"neither"}'),
          Buffer.from(`GET ${history} HTTP/1.1\r\nHost: x\r\n${key}\r\n\r\n`),
        ),
        fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { minLength: 1, maxLength: 3 }),
      )
      .map(([request, flips]) => {
        const bytes = Buffer.from(request)
        for (const [place, byte] of flips) bytes[place % bytes.length] = byte
        return hostile('other bytes', [bytes], { most: 3, broken: 'maybe', ending: 'stops' })
      }),
  )
}

/** Bodies that arrive a byte at a time: as long as they keep coming, they are taken. */
export function slowOnes(world: World): Hostile[] {
  const [prompt = ''] = world.ample.prompts
  const target = `/api/v1/prompts/${prompt}/signals`
  const key = `Authorization: Bearer ${world.keys.admin}`
  const head = Buffer.from(
    `POST ${target} HTTP/1.1\r\n${key}\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n`,
  )
  const body = Buffer.from('{"value":"positive"}')
  const asked = [{ method: 'POST', target }]
  return [
    hostile('slow body', [head, ...bytewise(body)], { asked, broken: 'never', pause: 50 }),
    hostile('slow request', bytewise(Buffer.concat([head, body])), { asked, broken: 'never', pause: 5 }),
  ]
}

/** Clients that stop in the middle: their time is up at last. */
export function stalledOnes(world: World): Hostile[] {
  const [slow] = slowOnes(world)
  const [head = Buffer.alloc(0), ...body] = slow?.pieces ?? []
  return [
    hostile('stalled body', [head, ...body.slice(0, 5)], { broken: 'always', pause: 20 }),
    hostile('stalled head', [head.subarray(0, 30)], { broken: 'always' }),
  ]
}

function hostile(name: string, pieces: Buffer[], given: Partial<Hostile>): Hostile {
  return { name, pieces, pause: 0, asked: null, most: 1, broken: 'maybe', ending: 'waits', ...given }
}

function joined(...parts: Bytes[]): Buffer {
  return Buffer.concat(parts.map((part) => Buffer.from(part as string)))
}

function bytewise(bytes: Buffer): Buffer[] {
  return [...bytes].map((byte) => Buffer.from([byte]))
}

function inChunks(bytes: Buffer, sizes: number[]): Buffer[] {
  const chunks: Buffer[] = []
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const chunk = bytes.subarray(at, at + (sizes[i % sizes.length] as number))
    chunks.push(joined(`${chunk.length.toString(16)};x=y\r\n`, chunk, '\r\n'))
    at += chunk.length
  }
  return chunks
}

const brokenLines = [
  'nonsense\r\n\r\n',
  'GET\r\n\r\n',
  'get /healthz HTTP/1.1\r\n\r\n',
  ' GET /healthz HTTP/1.1\r\n\r\n',
  'GET /healthz HTTP/9.9\r\n\r\n',
  'GET /healthz HTTP/1.1 x\r\n\r\n',
  'GET /healthz HTTP/\r\n\r\n',
  'GET /healthz XTTP/1.1\r\n\r\n',
  'GET healthz HTTP/1.1\r\n\r\n',
  'GET /a b HTTP/1.1\r\n\r\n',
  'NOSUCH /healthz HTTP/1.1\r\n\r\n',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'HTTP/1.1 200 OK\r\n\r\n',
  'GET /healthz HTTP/1.1\r\nHost: x',
  'GET /healthz HT',
  Buffer.from([0x16, 0x03, 0x01, 0x00, 0xa5, 0x01, 0x00, 0x00]),
]

const brokenHeaders = [
  'bad header',
  'X : y',
  ': y',
  'X\0: y',
  'X: a\0b',
  'X: a\rb',
  'X: a\nY: b',
  'X: a\r\n folded',
  'X\xff: y',
  'X: \x01',
  'X(: y',
  'Content-Length: five',
  'Content-Length: -1',
  'Content-Length: 1e1',
  'Content-Length: 99999999999999999999',
  'Transfer-Encoding: none',
  'Connection: \x7f',
]

const badChunks = [
  'zz\r\n',
  '-1\r\nx\r\n0\r\n\r\n',
  '0x5\r\nhello\r\n0\r\n\r\n',
  'ffffffffffffffffff\r\nx',
  '5\r\nhel',
  '5\r\nhelloworld\r\n0\r\n\r\n',
  '5 5\r\nhello\r\n0\r\n\r\n',
  '\r\n\r\n',
  `5;${'x'.repeat(20_000)}\r\nhello\r\n0\r\n\r\n`,
  '14\r\n{"value":"positive"}\r\n',
  '14\r\n{"value":"positive"}\r\n0\r\nbad trailer\r\n\r\n',
]

const doubleLengths = [
  ['Content-Length: 5', 'Transfer-Encoding: chunked'],
  ['Transfer-Encoding: chunked', 'Content-Length: 0'],
  ['Content-Length: 5', 'Content-Length: 6'],
  ['Content-Length: 5, 6'],
  ['Content-Length: +5'],
  ['Content-Length: 0x5'],
  ['Content-Length: 5', 'Transfer-Encoding : chunked'],
  ['Content-Length: 5', 'Transfer-Encoding:\x0bchunked'],
  ['Transfer-Encoding: xchunked'],
  ['Transfer-Encoding: chunked, identity'],
  ['Transfer-Encoding: identity, chunked', 'Transfer-Encoding: x'],
]

function hurtingBodies(): [string, Bytes][] {
  const metadata = (text: Bytes) => joined('{"value":"positive","metadata":', text, '}')
  return [
    ['deep JSON', '['.repeat(100_000)],
    ['deep JSON', `${'[['.repeat(50_000)}${']]'.repeat(50_000)}`],
    ['deep JSON', metadata(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`)],
    ['deep JSON', metadata(`${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`)],
    ['deep JSON', metadata(`{"a":${'['.repeat(8_000)}${']'.repeat(8_000)}}`)],
    ['deep JSON', `{"value":${'['.repeat(30_000)}${']'.repeat(30_000)}}`],
    ['huge number', metadata(`{"a":${'9'.repeat(10_000)}}`)],
    ['huge number', metadata(`{"a":-1e${'9'.repeat(10_000)},"b":0.${'0'.repeat(1_000)}1}`)],
    ['many members', metadata(`{${Array.from({ length: 1_000 }, (_, i) => `"${i}":${i}`).join()}}`)],
    ['double member', '{"value":"negative","value":"positive","metadata":{},"metadata":{"a":1,"a":2}}'],
    ['odd member', metadata('{"__proto__":{"admin":true},"constructor":{"prototype":1},"":0}')],
    ['odd member', '{"__proto__":{"value":"positive"}}'],
    ['surrogate', metadata('{"a":"\\ud800","b":"\\udfff\\ud800","\\ud83d":"\\u0000"}')],
    ['escapes', metadata(`{"a":"${'\\u0000'.repeat(2_000)}"}`)],
    ['bad UTF-8', metadata(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]))],
    ['bad UTF-8', metadata(Buffer.from([0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x3a, 0x31, 0x7d]))],
    ['bad UTF-8', metadata(Buffer.from([0x7b, 0x22, 0xc0, 0xaf, 0x22, 0x3a, 0x31, 0x7d]))],
    ['BOM', '\ufeff{"value":"positive"}'],
    ['other encoding', Buffer.from('{"value":"positive"}', 'utf16le')],
    ['NUL', '{"value":"positive"}\0'],
    ['white space', `${' \t\r\n'.repeat(10_000)}{"value":"positive"}`],
  ]
}
