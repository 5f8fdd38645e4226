import { connect, type Socket } from 'node:net'
import type { Account } from '../testing/account.ts'
import type { Fate } from './voters.ts'

export interface Flood {
  port: number
  accounts: Account[]
  connections: number
  seconds: number
}

export interface Flooded {
  /** By the number that a signal carries; number modulo accounts is the account. */
  fates: Map<number, Fate>
  /** What nothing allows. */
  wrong: string[]
  /** By status. */
  answers: Map<number, Answers>
}

export interface Answers {
  count: number
  /** How many took so many milliseconds. */
  byMilliseconds: Uint32Array
}

const longest = 60_000
// All have eight digits.
const first = 10_000_000
// How many requests a connection sends without waiting for an answer.
const depths = [1, 1, 1, 4]

/**
 * Sends signals on every connection as fast as it can, whatever the answers say, and waits for the last of them. Each carries
 * a number of its own, so that what is stored can be held against what was answered.
 */
export async function flood({ port, accounts, connections, seconds }: Flood): Promise<Flooded> {
  const flooded: Flooded = { fates: new Map(), wrong: [], answers: new Map() }
  const end = performance.now() + seconds * 1_000
  const requests = accounts.map((account, i) => {
    let number = Math.ceil(first / accounts.length) * accounts.length + i
    const bytes = requestOf(account)
    return () => {
      number += accounts.length
      return { number, bytes: bytes(number) }
    }
  })
  await Promise.all(
    Array.from({ length: connections }, async (_, i) => {
      const next = requests[i % requests.length] as Next
      const depth = depths[Math.floor(i / requests.length) % depths.length] as number
      await exchange(flooded, await open(port), next, depth, end)
    }),
  )
  return flooded
}

/** The milliseconds that a share of the answers took at most. */
export function within({ count, byMilliseconds }: Answers, share: number): number {
  let left = Math.ceil(count * share)
  return byMilliseconds.findIndex((n) => {
    left -= n
    return left <= 0
  })
}

type Next = () => { number: number; bytes: Buffer }

function requestOf({ key, promptId }: Account): (number: number) => Buffer {
  const body = `{"value":"positive","metadata":{"number":${first}}}`
  const request = Buffer.from(
    `POST /api/v1/prompts/${promptId}/signals HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )
  const place = request.lastIndexOf(String(first))
  return (number) => {
    const bytes = Buffer.from(request)
    bytes.write(String(number), place, 'latin1')
    return bytes
  }
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => resolve(socket))
    socket.once('error', reject)
  })
}

function exchange(flooded: Flooded, socket: Socket, next: Next, depth: number, end: number): Promise<void> {
  const sent: { number: number; at: number }[] = []
  let rest: Buffer = Buffer.alloc(0)

  return new Promise((resolve) => {
    function send(): void {
      while (sent.length < depth && performance.now() < end) {
        const { number, bytes } = next()
        sent.push({ number, at: performance.now() })
        socket.write(bytes)
      }
      if (sent.length === 0) socket.destroy()
    }

    function take(chunk: Buffer): void {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      for (;;) {
        const bodyStart = rest.indexOf('\r\n\r\n') + 4
        if (bodyStart < 4) break
        const head = rest.toString('latin1', 0, bodyStart)
        const bodyEnd = bodyStart + Number(/content-length: (\d+)/i.exec(head)?.[1])
        if (rest.length < bodyEnd) break
        note(head, rest.toString('latin1', bodyStart, bodyEnd))
        rest = rest.subarray(bodyEnd)
      }
      send()
    }

    function note(head: string, body: string): void {
      const { number, at } = sent.shift() as { number: number; at: number }
      const status = Number(head.slice(9, 12))
      const { byMilliseconds } = answersOf(flooded, status)
      const place = Math.min(Math.ceil(performance.now() - at), longest)
      byMilliseconds[place] = (byMilliseconds[place] as number) + 1
      flooded.fates.set(number, status === 201 ? 'stored' : 'refused')
      if (!isRight(status, head, body)) flooded.wrong.push(head + body)
    }

    socket.on('data', take)
    socket.on('error', () => {})
    socket.on('close', () => {
      for (const { number } of sent) flooded.fates.set(number, 'unknown')
      if (sent.length > 0) flooded.wrong.push(`${sent.length} requests on a connection were never answered`)
      resolve()
    })
    send()
  })
}

function answersOf({ answers }: Flooded, status: number): Answers {
  let found = answers.get(status)
  if (found === undefined) {
    found = { count: 0, byMilliseconds: new Uint32Array(longest + 1) }
    answers.set(status, found)
  }
  found.count++
  return found
}

function isRight(status: number, head: string, body: string): boolean {
  return (
    (status === 201 && body.startsWith('{"data":{"id":')) ||
    (status === 429 && body.startsWith('{"error":{"code":"rate_limited"')) ||
    (status === 500 && body.startsWith('{"error":{"code":"internal_error"') && /\r\nretry-after: \d+\r\n/i.test(head))
  )
}
