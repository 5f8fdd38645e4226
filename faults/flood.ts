import type { Socket } from 'node:net'
import type { Account } from '../testing/account.ts'
import { openSocket } from '../testing/socket.ts'
import type { SentSignals } from './senders.ts'

export interface Flood {
  port: number
  accounts: Account[]
  connections: number
  seconds: number
}

export interface Flooded extends SentSignals {
  /** By status. */
  latencies: Map<number, Latencies>
}

export interface Latencies {
  count: number
  /** How many responses took each number of milliseconds. */
  byMs: Uint32Array
}

const maxMs = 60_000
// All numbers have eight digits, so that requests differ only in these bytes.
const firstNumber = 10_000_000
// How many requests a connection sends without waiting for a response.
const pipelineDepths = [1, 1, 1, 4]

/**
 * Sends signals on every connection as fast as it can, whatever the responses are, and waits for the last of them. Each signal
 * has a number of its own, so that the stored signals can be compared with the responses.
 */
export async function flood({ port, accounts, connections, seconds }: Flood): Promise<Flooded> {
  const flooded: Flooded = { fates: new Map(), unexpected: [], latencies: new Map() }
  const end = performance.now() + seconds * 1_000
  const requests = accounts.map((account, i) => {
    let number = Math.ceil(firstNumber / accounts.length) * accounts.length + i
    const bytes = numberedRequest(account)
    return () => {
      number += accounts.length
      return { number, bytes: bytes(number) }
    }
  })
  await Promise.all(
    Array.from({ length: connections }, async (_, i) => {
      const next = requests[i % requests.length] as NextRequest
      const depth = pipelineDepths[Math.floor(i / requests.length) % pipelineDepths.length] as number
      await drive(flooded, await openSocket(port), next, depth, end)
    }),
  )
  return flooded
}

/** The latency in milliseconds that this share of the responses does not exceed. */
export function quantile({ count, byMs }: Latencies, share: number): number {
  let left = Math.ceil(count * share)
  return byMs.findIndex((responses) => {
    left -= responses
    return left <= 0
  })
}

type NextRequest = () => { number: number; bytes: Buffer }

function numberedRequest({ key, promptId }: Account): (number: number) => Buffer {
  const body = `{"value":"positive","metadata":{"number":${firstNumber}}}`
  const request = Buffer.from(
    `POST /api/v1/prompts/${promptId}/signals HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )
  const place = request.lastIndexOf(String(firstNumber))
  return (number) => {
    const bytes = Buffer.from(request)
    bytes.write(String(number), place, 'latin1')
    return bytes
  }
}

function drive(flooded: Flooded, socket: Socket, next: NextRequest, depth: number, end: number): Promise<void> {
  const inFlight: { number: number; at: number }[] = []
  let unread: Buffer = Buffer.alloc(0)

  return new Promise((resolve) => {
    function send(): void {
      while (inFlight.length < depth && performance.now() < end) {
        const { number, bytes } = next()
        inFlight.push({ number, at: performance.now() })
        socket.write(bytes)
      }
      if (inFlight.length === 0) socket.destroy()
    }

    function receive(chunk: Buffer): void {
      unread = unread.length === 0 ? chunk : Buffer.concat([unread, chunk])
      for (;;) {
        const bodyStart = unread.indexOf('\r\n\r\n') + 4
        if (bodyStart < 4) break
        const head = unread.toString('latin1', 0, bodyStart)
        const bodyEnd = bodyStart + Number(/content-length: (\d+)/i.exec(head)?.[1])
        if (unread.length < bodyEnd) break
        note(head, unread.toString('latin1', bodyStart, bodyEnd))
        unread = unread.subarray(bodyEnd)
      }
      send()
    }

    function note(head: string, body: string): void {
      const { number, at } = inFlight.shift() as { number: number; at: number }
      const status = Number(head.slice(9, 12))
      countLatency(flooded, status, Math.min(Math.ceil(performance.now() - at), maxMs))
      flooded.fates.set(number, status === 201 ? 'stored' : status === 429 ? 'over limit' : 'shed')
      if (!isExpected(status, head, body)) flooded.unexpected.push(head + body)
    }

    socket.on('data', receive)
    socket.on('close', () => {
      for (const { number } of inFlight) flooded.fates.set(number, 'unknown')
      if (inFlight.length > 0) flooded.unexpected.push(`${inFlight.length} requests on a connection got no response`)
      resolve()
    })
    send()
  })
}

function countLatency({ latencies }: Flooded, status: number, ms: number): void {
  const ofStatus = latencies.get(status) ?? { count: 0, byMs: new Uint32Array(maxMs + 1) }
  latencies.set(status, ofStatus)
  ofStatus.count++
  ofStatus.byMs[ms] = (ofStatus.byMs[ms] as number) + 1
}

function isExpected(status: number, head: string, body: string): boolean {
  return (
    (status === 201 && body.startsWith('{"data":{"id":')) ||
    (status === 429 && body.startsWith('{"error":{"code":"rate_limited"')) ||
    (status === 500 && body.startsWith('{"error":{"code":"internal_error"') && /\r\nretry-after: \d+\r\n/i.test(head))
  )
}
