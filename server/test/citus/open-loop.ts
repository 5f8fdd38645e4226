import type { Socket } from 'node:net'
import type { Account } from '../../../testing/account.ts'
import { onTestEnd } from '../../../testing/cleanup.ts'
import { openSocket } from '../../../testing/socket.ts'

export interface Response {
  organisationId: number
  /** When the request was due, by `performance.now`. */
  sentAt: number
  /** How long it took. It includes the connection, if a new one was needed. */
  ms: number
  status: number
}

export interface OpenLoop {
  /** Empty again after `clear`. */
  responses: Response[]
  /** The organisation of each acknowledged signal, by ID. */
  acknowledged: Map<number, number>
  clear(): void
  /** How long the oldest request without a response has been waiting. */
  oldestMs(): number
  /** Stops sending, and resolves once every request is answered. */
  stop(): Promise<void>
}

// The service does not read a connection for half a second after a rejection. Real clients have other connections.
const restMs = 600
const tickMs = 2

/**
 * Sends signals of these accounts in turn, at a fixed rate however long the responses take, as the users of many applications do.
 * Clients that wait for a response before they send again would send less to a server that is down, and hide what others suffer.
 */
export function startOpenLoop(port: number, accounts: Account[], perSecond: number): OpenLoop {
  const responses: Response[] = []
  const acknowledged = new Map<number, number>()
  const unanswered = new Map<Promise<void>, number>()
  // Those that are free for longest first.
  const free: { socket: Socket; since: number }[] = []
  const sockets = new Set<Socket>()
  const requests = accounts.map(signalRequest)
  const start = performance.now()
  let sent = 0

  async function connection(now: number): Promise<Socket> {
    const [first] = free
    if (first !== undefined && now - first.since > restMs) return (free.shift() as (typeof free)[number]).socket
    const socket = await openSocket(port)
    sockets.add(socket)
    return socket
  }

  async function send(number: number, now: number): Promise<void> {
    const { organisationId } = accounts[number % accounts.length] as Account
    const socket = await connection(now)
    const text = await exchange(socket, requests[number % accounts.length] as string)
    const status = Number(text.slice(9, 12))
    const id = /"id":(\d+)/.exec(text)?.[1]
    if (status === 201) acknowledged.set(Number(id), organisationId)
    const answeredAt = performance.now()
    responses.push({ organisationId, sentAt: now, ms: answeredAt - now, status })
    free.push({ socket, since: answeredAt })
  }

  const timer = setInterval(() => {
    const now = performance.now()
    for (const due = Math.floor(((now - start) * perSecond) / 1_000); sent < due; sent++) {
      const response = send(sent, now)
      unanswered.set(response, now)
      void response.finally(() => unanswered.delete(response))
    }
  }, tickMs)

  async function stop(): Promise<void> {
    clearInterval(timer)
    await Promise.all(unanswered.keys())
    for (const socket of sockets) socket.destroy()
  }
  onTestEnd(stop)
  return {
    responses,
    acknowledged,
    clear() {
      responses.length = 0
    },
    oldestMs: () => performance.now() - Math.min(performance.now(), ...unanswered.values()),
    stop,
  }
}

/** The responses to signals are short: each arrives as a whole. */
function exchange(socket: Socket, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const onClose = () => reject(new Error('the service closed a connection without a response'))
    socket.once('close', onClose)
    socket.once('data', (chunk) => {
      socket.off('close', onClose)
      resolve(chunk.toString('latin1'))
    })
    socket.write(request, 'latin1')
  })
}

function signalRequest({ key, promptId }: Account): string {
  const body = '{"value":"positive"}'
  return (
    `POST /api/v1/prompts/${promptId}/signals HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  )
}
