import {
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'

/** What becomes of one request. */
export type Fate =
  | { do: 'pass' }
  /** The connection ends before the service hears of it. */
  | { do: 'refuse' }
  /** The service does it, but its answer is lost. */
  | { do: 'cut' }
  /** The connection ends after so many bytes of the answer's body. */
  | { do: 'truncate'; after: number }
  /** So many bytes of the answer's body arrive, then nothing more. */
  | { do: 'stall'; after: number }
  /** The service gets it only after a while. */
  | { do: 'delay'; milliseconds: number }
  /** The service gets it twice at once. */
  | { do: 'duplicate' }
  /** Something else answers. */
  | { do: 'answer'; status: number; headers?: Record<string, string>; body?: string }

export interface Passed {
  at: number
  method: string
  url: string
  headers: IncomingHttpHeaders
  body: string
}

/** Stands between client and service. */
export class TestProxy {
  address = ''
  /** What arrived here since the last reset. */
  passed: Passed[] = []
  /** Called for each request, with its number from 0. */
  fate: (number: number, request: Passed) => Fate = () => ({ do: 'pass' })
  /** How many requests are being answered. */
  underWay = 0
  #server: Server | undefined
  readonly #sockets = new Set<Socket>()

  async open(target: number, port = 0): Promise<void> {
    const server = createServer((request, response) => {
      this.underWay++
      response.on('close', () => this.underWay--)
      // Where the service is gone, so is the connection to it.
      this.#treat(target, request, response).catch(() => request.socket.destroy())
    })
    server.on('connection', (socket) => {
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
    })
    this.#server = server
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
    this.address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server?.close(resolve))
  }

  /** Everything passes again, and nothing has. */
  reset(): void {
    this.passed = []
    this.fate = () => ({ do: 'pass' })
  }

  /** The first requests meet these fates, all later ones pass. */
  first(...fates: Fate[]): void {
    this.fate = (number) => fates[number] ?? { do: 'pass' }
  }

  async #treat(target: number, request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks).toString()
    const { method = '', url = '', headers } = request
    const passed = { at: performance.now(), method, url, headers, body }
    this.passed.push(passed)
    const fate = this.fate(this.passed.length - 1, passed)

    if (fate.do === 'refuse') return request.socket.destroy()
    if (fate.do === 'answer') return response.writeHead(fate.status, fate.headers).end(fate.body)
    if (fate.do === 'delay') await setTimeout(fate.milliseconds)
    const ways = fate.do === 'duplicate' ? 2 : 1
    const answers = await Promise.all(Array.from({ length: ways }, () => forward(target, passed)))
    const answer = answers[0] as IncomingMessage
    answers[1]?.resume()
    if (fate.do === 'cut') return answer.resume().on('end', () => request.socket.destroy())
    response.writeHead(answer.statusCode ?? 0, answer.headers)
    if (fate.do !== 'truncate' && fate.do !== 'stall') return answer.pipe(response)
    let left = fate.after
    for await (const chunk of answer) {
      response.write(chunk.subarray(0, left))
      left -= chunk.length
      if (left <= 0) break
    }
    if (fate.do === 'truncate') request.socket.destroySoon()
    return
  }
}

function forward(port: number, { method, url, headers, body }: Passed): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ port, host: '127.0.0.1', method, path: url, headers }, resolve)
    request.on('error', reject)
    request.end(body)
  })
}
