import { Resolver } from 'node:dns/promises'
import { type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { version } from '../version.ts'
import { isPublicAddress, type Lookup, systemLookup } from './address.ts'

/** Where requests may go. */
export interface Network {
  /** Whether the host may have a private address. */
  allowPrivate: boolean
  /** Whether the URL may be plain http. */
  allowHttp: boolean
  /** How to resolve host names. Default: the name servers, or the system with /etc/hosts if private addresses are allowed. */
  lookUp?: Lookup | undefined
}

export interface RequestOptions {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  headers?: Record<string, string>
  body?: string | null
  /** The rest of a longer response is not read. */
  maxResponseBytes?: number
  /** In total: DNS, connection, request and response. */
  timeoutMs?: number
  /** Ends the request early. */
  signal?: AbortSignal
}

/** Tenants see `reason`, so it tells nothing about the operator's network. */
export type RequestResult =
  | { kind: 'response'; status: number; headers: IncomingHttpHeaders; body: string; isTruncated: boolean }
  /** `status` is null if there was no response. */
  | { kind: 'failure'; status: number | null; reason: string }

const userAgent = `promptledger/${version}`

// One reason for an unknown name, a private address, a closed port and a filtered one.
const unreachable = 'The host cannot be reached, or its address is not public.'
const insecure = 'No secure connection to the host could be made. Its certificate must be valid for the host name.'
const closedEarly = 'The host closed the connection before the response was complete.'
const redirects = (status: number) => `The host redirects (${status}). Redirects are not followed: use the final URL.`

/**
 * Sends one request to a host that tenants choose. The host is resolved once, here, and the connection goes to the checked
 * addresses: a name server that answers differently the second time changes nothing. Follows no redirects. Never rejects.
 */
export async function sendRequest(
  { allowPrivate, allowHttp, lookUp = allowPrivate ? systemLookup : resolveHost }: Network,
  address: string,
  options: RequestOptions,
): Promise<RequestResult> {
  const url = URL.parse(address)
  if (url === null || !/^https?:$/.test(url.protocol)) return failure('The URL is invalid.')
  if (url.username !== '' || url.password !== '') return failure('The URL must not contain a user name or password.')
  if (url.protocol === 'http:' && !allowHttp) return failure('Plain http:// is not allowed. Use https://.')
  const timeoutMs = options.timeoutMs ?? 10_000
  const timeout = AbortSignal.timeout(timeoutMs)
  const deadline = options.signal === undefined ? timeout : AbortSignal.any([timeout, options.signal])
  const addresses = await addressesOf(url.hostname.replace(/^\[|\]$/g, ''), lookUp, deadline)
  if (addresses.length === 0 || !(allowPrivate || addresses.every(isPublicAddress))) return failure(unreachable)
  // Node throws if a header cannot be sent.
  return exchange({ url, addresses, deadline, timeoutMs }, options).catch(() => failure('The request is invalid.'))
}

async function addressesOf(host: string, lookUp: Lookup, deadline: AbortSignal): Promise<string[]> {
  if (isIP(host) !== 0) return [host]
  const expired = new Promise<string[]>((resolve) => deadline.addEventListener('abort', () => resolve([])))
  return Promise.race([lookUp(host), expired]).catch(() => [])
}

interface Exchange {
  url: URL
  addresses: string[]
  deadline: AbortSignal
  timeoutMs: number
}

function exchange({ url, addresses, deadline, timeoutMs }: Exchange, options: RequestOptions): Promise<RequestResult> {
  const { method, headers, body = null, maxResponseBytes = 4_096 } = options
  const send = url.protocol === 'https:' ? requestHttps : requestHttp
  return new Promise((resolve) => {
    let isConnected = false
    let isSecure = url.protocol === 'http:'
    let status: number | null = null
    const fail = () => {
      if (!isConnected) resolve(failure(unreachable))
      else if (deadline.aborted) resolve(failure(`No complete response within ${timeoutMs / 1_000} s.`, status))
      else resolve(failure(isSecure ? closedEarly : insecure, status))
    }
    const sending = send(url, {
      method,
      // A connection of its own, which ends with the response.
      agent: false,
      lookup: pinTo(addresses),
      signal: deadline,
      headers: {
        'User-Agent': userAgent,
        ...headers,
        ...(body !== null && { 'Content-Length': Buffer.byteLength(body) }),
      },
    })
    sending.on('socket', (socket) => {
      socket.on('connect', () => {
        isConnected = true
      })
      // Not emitted if the certificate is rejected.
      socket.on('secureConnect', () => {
        isSecure = true
      })
    })
    // Once the response has started, errors are reported by its stream.
    const failUnlessAnswered = () => {
      if (status === null) fail()
    }
    sending.on('error', failUnlessAnswered)
    // Also covers cases that Node does not report as errors, such as a response that switches protocols.
    sending.on('close', failUnlessAnswered)
    sending.on('response', (response) => {
      status = response.statusCode as number
      if (status >= 300 && status < 400) resolve(failure(redirects(status), status))
      const result = { kind: 'response', status, headers: response.headers } as const
      readStart(response, maxResponseBytes)
        .then((start) => resolve({ ...result, ...start }), fail)
        .finally(() => sending.destroy())
    })
    sending.end(body ?? undefined)
  })
}

/** Never reads more than one chunk beyond the limit. Ending the loop early closes the connection. */
async function readStart(response: IncomingMessage, maxBytes: number): Promise<{ body: string; isTruncated: boolean }> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    length += chunk.length
    if (length > maxBytes) break
  }
  const body = Buffer.concat(chunks).subarray(0, maxBytes).toString()
  return { body, isTruncated: length > maxBytes }
}

/** A lookup for `net.connect` that knows only these addresses. */
function pinTo(addresses: string[]): LookupFunction {
  const known = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_host, { all }, callback) => {
    const [first] = known
    if (all) callback(null, known)
    else callback(null, first?.address ?? '', first?.family)
  }
}

function failure(reason: string, status: number | null = null): RequestResult {
  return { kind: 'failure', status, reason }
}

/**
 * Asks the name servers directly, without one of libuv's threads: hosts of one tenant whose name servers are slow cannot hold up
 * the lookups of others. Fails after 6 s.
 */
async function resolveHost(host: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: 3_000, tries: 2 })
  const families = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  return families.flatMap((family) => (family.status === 'fulfilled' ? family.value : []))
}
