import type { Socket } from 'node:net'
import type { Account } from '../testing/account.ts'
import { openSocket } from '../testing/socket.ts'

export interface LoadResult {
  requestsPerSecond: number
  /** Milliseconds. */
  p50: number
  p99: number
}

export interface Load {
  port: number
  /** Complete HTTP requests. Each connection sends them in turn, over and over. */
  requests: string[]
  /** Changes the bytes of a request of any connection before it is sent, such as an ID that has to be unique. */
  change?: (request: Buffer) => void
  expectedStatus: number
  connections: number
  seconds: number
}

/**
 * Keeps every connection busy with one request at a time, as wrk does. It does as little as possible per request, since it
 * shares two cores with the server it measures.
 */
export async function load(options: Load): Promise<LoadResult> {
  const { port, requests, expectedStatus, connections, seconds, change } = options
  const bytes = requests.map((request) => Buffer.from(request, 'latin1'))
  const latencies: number[] = []
  const start = performance.now()
  const end = start + seconds * 1_000
  const sockets = await Promise.all(Array.from({ length: connections }, () => openSocket(port)))
  await Promise.all(sockets.map((socket, i) => drive(socket, bytes, i, expectedStatus, end, latencies, change)))
  const elapsed = (performance.now() - start) / 1_000
  latencies.sort((a, b) => a - b)
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? Number.NaN
  return { requestsPerSecond: latencies.length / elapsed, p50: at(0.5), p99: at(0.99) }
}

function drive(
  socket: Socket,
  requests: Buffer[],
  first: number,
  status: number,
  end: number,
  latencies: number[],
  change?: Load['change'],
): Promise<void> {
  return new Promise((resolve, reject) => {
    let next = first
    const send = () => {
      const request = requests[next++ % requests.length] as Buffer
      change?.(request)
      // The socket may send a changed buffer later, when it has changed again.
      socket.write(change === undefined ? request : Buffer.from(request))
    }
    let sentAt = performance.now()
    let missing = 0
    socket.on('close', () => reject(new Error('the server closed the connection')))
    socket.on('data', (chunk: Buffer) => {
      missing = missing > 0 ? missing - chunk.length : bytesAfter(chunk, status)
      if (missing > 0) return
      const now = performance.now()
      latencies.push(now - sentAt)
      if (now >= end) {
        resolve()
        socket.destroy()
        return
      }
      sentAt = now
      send()
    })
    send()
  })
}

/** How many bytes of the response are still to come after its first chunk. The headers of our responses fit into one chunk. */
export function bytesAfter(chunk: Buffer, status: number): number {
  const bodyStart = chunk.indexOf('\r\n\r\n') + 4
  const head = chunk.toString('latin1', 0, bodyStart)
  if (Number(head.slice(9, 12)) !== status) {
    throw new Error(`expected status ${status}, received ${chunk.toString()}`)
  }
  const length = /content-length: (\d+)/i.exec(head)?.[1]
  return bodyStart + Number(length) - chunk.length
}

const signal = '{"value":"positive","metadata":{"trace":"4bf92f3577b34da6a3ce929d0e0e4736","model":"m-1"}}'

export function signalRequest(account: Account): string {
  return postRequest(account, `prompts/${account.promptId}/signals`, signal)
}

/** Where `voteRequest` has the number that makes its subject unique. */
export const subjectNumber = '0000000000'

export function voteRequest(account: Account): string {
  const vote = `${signal.slice(0, -1)},"version":"8f3a1c5e7b9d2f4a6c8e0b1d3f5a7c9e1b3d5f7a","subject":"answer-${subjectNumber}"}`
  return postRequest(account, `prompts/${account.promptId}/signals`, vote)
}

export function batchRequest(account: Account, size: number): string {
  const item = `{"prompt":"${account.promptId}",${signal.slice(1)}`
  return postRequest(account, 'signals', `{"signals":[${Array(size).fill(item).join(',')}]}`)
}

function postRequest({ key }: Account, path: string, body: string): string {
  return (
    `POST /api/v1/${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  )
}

/** A GET request below the prompt's path, such as `impact?page=2`. */
export function readRequest({ key, promptId }: Account, path: string): string {
  return (
    `GET /api/v1/prompts/${promptId}/${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n` + `Authorization: Bearer ${key}\r\n\r\n`
  )
}

/** A request for the list of prompts. */
export function listRequest({ key }: Account, query: string): string {
  return `GET /api/v1/prompts${query} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n\r\n`
}

export function historyRequest(account: Account, page = 1, limit = 25): string {
  return readRequest(account, `history?page=${page}&limit=${limit}`)
}
