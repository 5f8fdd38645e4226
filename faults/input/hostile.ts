import { gzipSync } from 'node:zlib'
import fc, { type Arbitrary } from 'fast-check'
import {
  badChunks,
  conflictingLengths,
  expensiveBodies,
  malformedHeaders,
  malformedLines,
  unusualRequests,
} from './hostile-bytes.ts'
import type { Target } from './target.ts'
import { texts } from './values.ts'

/** Bytes that no well-behaved client sends, or sends this way. */
export interface HostileExchange {
  name: string
  pieces: Buffer[]
  /** Between two pieces. */
  pauseMs: number
  /** The requests in the bytes; null if that is for the service to decide. */
  requests: { method: string; target: string }[] | null
  maxResponses: number
  /** Whether the service may, must or must not reject the bytes as malformed HTTP. */
  malformed: 'never' | 'maybe' | 'always'
  /** What the client does after the last piece. */
  afterwards: 'wait' | 'half-close' | 'reset'
}

type Bytes = string | Buffer
type Options = Partial<Omit<HostileExchange, 'name' | 'pieces'>>

function hostile(name: string, pieces: Bytes | Buffer[], options: Options): HostileExchange {
  const defaults = { pauseMs: 0, requests: null, maxResponses: 1, malformed: 'maybe', afterwards: 'wait' } as const
  return { name, pieces: Array.isArray(pieces) ? pieces : [joined(pieces)], ...defaults, ...options }
}

function joined(...parts: Bytes[]): Buffer {
  return Buffer.concat(parts.map((part) => Buffer.from(part as string)))
}

const signal = '{"value":"positive"}'
const invalidSignal = '{"value":"neither"}'

function requestsFor({ prompts, keys: { admin } }: Target) {
  const target = `/api/v1/prompts/${prompts[0]}/signals`
  const key = `Authorization: Bearer ${admin}`
  const head = (line: string, ...headers: string[]) => `${[line, 'Host: x', key, ...headers].join('\r\n')}\r\n\r\n`
  const post = (headers: string[], body: Bytes) =>
    joined(head(`POST ${target} HTTP/1.1`, 'Content-Type: application/json', ...headers), body)
  const get = (path: string) => head(`GET ${path} HTTP/1.1`)
  return { target, key, head, post, get, requests: [{ method: 'POST', target }] }
}

/** Every kind as often as any other. */
export function hostileExchanges(service: Target): Arbitrary<HostileExchange> {
  const { target, key, head, post, get, requests } = requestsFor(service)
  const history = target.replace(/signals$/, 'history')
  const usage = get('/api/v1/usage')
  const posted = (name: string, body: Bytes, ...headers: string[]) =>
    hostile(name, post([`Content-Length: ${Buffer.byteLength(body)}`, ...headers], body), {
      requests,
      malformed: 'never',
    })
  const latin1 = (text: string) => Buffer.from(text, 'latin1')
  const mustFail = { malformed: 'always', afterwards: 'half-close' } as const

  const notRequests = fc.oneof(
    fc.constantFrom<Bytes>(...malformedLines),
    fc.uint8Array({ minLength: 1, maxLength: 200 }).map((bytes) => joined('\x01', Buffer.from(bytes), '\r\n\r\n')),
    texts.map((text) => `GET /${text} x HTTP/1.1\r\n\r\n`),
  )
  const controlPaths = fc.constantFrom('/\0', '/a\0b', '/\x01', '/\x7f', '/a\tb', '/\x0b')
  const oversized = fc.oneof(
    fc
      .constantFrom(17_000, 20_000, 200_000, 1_000_000)
      .map((length) =>
        hostile('huge header', head('GET /healthz HTTP/1.1', `X: ${'x'.repeat(length)}`), { malformed: 'always' }),
      ),
    fc.constantFrom(100, 1_000, 1_900, 2_500, 20_000).map((count) =>
      hostile('many headers', `GET /healthz HTTP/1.1\r\n${'a: b\r\n'.repeat(count)}\r\n`, {
        requests: [{ method: 'GET', target: '/healthz' }],
      }),
    ),
    fc
      .constantFrom(15_000, 20_000, 100_000)
      .map((length) => `/api/v1/prompts/${'p'.repeat(length)}/history`)
      .map((path) => hostile('huge path', get(path), { requests: [{ method: 'GET', target: path }] })),
  )
  const smuggled = fc.constantFrom(usage, '', '0\r\n\r\n', `5\r\nhello\r\n0\r\n\r\n${usage}`)
  const pipelined = {
    usage: { method: 'GET', target: '/api/v1/usage', bytes: joined(usage) },
    signal: { method: 'POST', target, bytes: post(['Content-Length: 20'], signal) },
    unknown: { method: 'HEAD', target: '/api/v1/x', bytes: joined(head('HEAD /api/v1/x HTTP/1.1')) },
    health: { method: 'GET', target: '/healthz', bytes: joined('GET /healthz HTTP/1.1\r\n\r\n') },
  }
  // These record nothing, whatever becomes of them.
  const flippable = fc.constantFrom(post(['Content-Length: 19'], invalidSignal), joined(get(history)))
  const flips = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 3 })

  return fc.oneof(
    notRequests.map((bytes) => hostile('malformed request line', bytes, mustFail)),
    fc
      .constantFrom(...malformedHeaders)
      .map((line) => latin1(`GET /healthz HTTP/1.1\r\nHost: x\r\n${line}\r\n\r\n`))
      .map((bytes) => hostile('malformed header', bytes, { afterwards: 'half-close' })),
    fc
      .tuple(fc.constantFrom('GET', 'POST'), controlPaths)
      .map(([method, path]) => latin1(`${method} ${path} HTTP/1.1\r\nHost: x\r\n\r\n`))
      .map((bytes) => hostile('control character in the path', bytes, { afterwards: 'half-close' })),
    oversized,
    fc
      .constantFrom(...badChunks)
      .map((body) => hostile('bad chunk', post(['Transfer-Encoding: chunked'], body), { requests, ...mustFail })),
    fc
      .tuple(fc.constantFrom(...conflictingLengths), smuggled)
      .map(([headers, body]) =>
        hostile('conflicting lengths', post(headers, body), { requests, afterwards: 'half-close' }),
      ),
    fc
      .nat(15)
      .map((length) => hostile('truncated body', post(['Content-Length: 20'], signal.slice(0, length)), mustFail)),
    fc
      .nat(200)
      .map((length) => post(['Content-Length: 20'], invalidSignal).subarray(0, length))
      .map((bytes) => hostile('client gone', bytes, { afterwards: 'reset' })),
    fc
      .array(fc.constantFrom('usage', 'signal', 'unknown', 'health'), { minLength: 2, maxLength: 12 })
      .map((names) => names.map((name) => pipelined[name]))
      .map((all) =>
        hostile('pipeline', joined(...all.map(({ bytes }) => bytes)), {
          requests: all,
          maxResponses: all.length,
          malformed: 'never',
        }),
      ),
    fc
      .constantFrom(
        usage,
        'GET /healthz HTTP/1.1\r\n\r\n',
        'GET /healthz HTTP/1.0\r\n\r\n',
        '\r\n\r\nGET /healthz HTTP/1.1\r\n\r\n',
        '',
      )
      .map((text) => hostile('half-closed', text, { afterwards: 'half-close' })),
    fc.constantFrom(...unusualRequests(key)).map((text) => hostile('unusual request', text, {})),
    fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 3, maxLength: 8 }).map((sizes) => {
      const body = joined(
        ...inChunks('{"value":"positive","metadata":{"smile":"😀"}}', sizes),
        '0\r\nX-Trailer: y\r\n\r\n',
      )
      return hostile('small chunks', post(['Transfer-Encoding: chunked'], body), { requests, malformed: 'never' })
    }),
    fc.constant(posted('expectation', signal, 'Expect: 100-continue')),
    fc.constant(posted('gzip', gzipSync(signal), 'Content-Encoding: gzip')),
    fc.constantFrom(...expensiveBodies()).map(([name, body]) => posted(name, body)),
    fc.tuple(flippable, flips).map(([request, places]) => {
      const bytes = Buffer.from(request)
      for (const [place, byte] of places) bytes[place % bytes.length] = byte
      return hostile('flipped bytes', bytes, { maxResponses: 3, afterwards: 'half-close' })
    }),
  )
}

function inChunks(text: string, sizes: number[]): Buffer[] {
  const bytes = Buffer.from(text)
  const chunks: Buffer[] = []
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const chunk = bytes.subarray(at, at + (sizes[i % sizes.length] as number))
    chunks.push(joined(`${chunk.length.toString(16)};x=y\r\n`, chunk, '\r\n'))
    at += chunk.length
  }
  return chunks
}

function bytewise(bytes: Buffer): Buffer[] {
  return [...bytes].map((byte) => Buffer.from([byte]))
}

/** Requests that arrive byte by byte: they succeed as long as bytes keep arriving. */
export function slowExchanges(service: Target): HostileExchange[] {
  const { post, requests } = requestsFor(service)
  const head = post(['Content-Length: 20'], '')
  const valid = { requests, malformed: 'never' } as const
  return [
    hostile('slow body', [head, ...bytewise(joined(signal))], { ...valid, pauseMs: 50 }),
    hostile('slow request', bytewise(joined(head, signal)), { ...valid, pauseMs: 5 }),
  ]
}

/** Clients that stop in the middle of a request: they are rejected after a timeout. */
export function stalledExchanges(service: Target): HostileExchange[] {
  const head = requestsFor(service).post(['Content-Length: 20'], '')
  return [
    hostile('stalled body', [head, ...bytewise(joined(signal.slice(0, 5)))], { malformed: 'always', pauseMs: 20 }),
    hostile('stalled header', [head.subarray(0, 30)], { malformed: 'always' }),
  ]
}
