import { once } from 'node:events'
import {
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** What the proxy does with one request. */
export type Fate =
  | { do: 'pass' }
  /** Closes the connection before the service receives the request. */
  | { do: 'refuse' }
  /** Passes the request on, then closes the connection instead of sending the response. */
  | { do: 'cut' }
  /** Closes the connection after `after` bytes of the response body. */
  | { do: 'truncate'; after: number }
  /** Sends `after` bytes of the response body, then nothing more. */
  | { do: 'stall'; after: number }
  /** Passes the request on, and never responds. */
  | { do: 'ignore' }
  /** Passes the request on after `milliseconds`. */
  | { do: 'delay'; milliseconds: number }
  /** Passes the request on when the test releases it. */
  | { do: 'hold' }
  /** Sends the request to the service twice at once. */
  | { do: 'duplicate' }
  /** Responds in place of the service. */
  | { do: 'respond'; status: number; headers?: Record<string, string>; body?: string }

export interface ReceivedRequest {
  at: number
  method: string
  url: string
  headers: IncomingHttpHeaders
  body: string
}

/** Stands between client and service, and breaks requests as a test tells it to. */
export class HttpProxy {
  address = ''
  /** Requests received since the last reset. */
  requests: ReceivedRequest[] = []
  /** Decides about each request, by its index in `requests`. */
  fate: (index: number, request: ReceivedRequest) => Fate = () => ({ do: 'pass' })
  /** Requests without a complete response. */
  inFlight = 0
  #server: Server | undefined
  #held: (() => void)[] = []

  async open(targetPort: number, port = 0): Promise<void> {
    const server = createServer((request, response) => {
      this.inFlight++
      response.on('close', () => this.inFlight--)
      // If the service is gone, the client's connection ends too.
      this.#handle(targetPort, request, response).catch(() => request.socket.destroy())
    })
    this.#server = server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    this.address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    if (!this.#server?.listening) return
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }

  /** Passes on the requests that it holds. */
  release(): void {
    for (const pass of this.#held.splice(0)) pass()
  }

  /** Passes all requests on again, also those it holds, and forgets those received. */
  reset(): void {
    this.release()
    this.requests = []
    this.fate = () => ({ do: 'pass' })
  }

  /** Applies these fates to the first requests and passes all later ones on. */
  first(...fates: Fate[]): void {
    this.fate = (index) => fates[index] ?? { do: 'pass' }
  }

  async #handle(targetPort: number, incoming: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    const { method = '', url = '', headers, socket } = incoming
    const request = { at: performance.now(), method, url, headers, body: Buffer.concat(chunks).toString() }
    this.requests.push(request)
    const fate = this.fate(this.requests.length - 1, request)

    if (fate.do === 'refuse') return socket.destroy()
    if (fate.do === 'respond') return response.writeHead(fate.status, fate.headers).end(fate.body)
    if (fate.do === 'delay') await pause(fate.milliseconds)
    if (fate.do === 'hold') await new Promise<void>((pass) => this.#held.push(pass))
    const copies = fate.do === 'duplicate' ? 2 : 1
    const [upstream, other] = (await Promise.all(
      Array.from({ length: copies }, () => forward(targetPort, request)),
    )) as [IncomingMessage, IncomingMessage?]
    other?.resume()
    if (fate.do === 'ignore') return upstream.resume()
    if (fate.do === 'cut') return upstream.resume().on('end', () => socket.destroy())
    response.writeHead(upstream.statusCode ?? 0, upstream.headers)
    if (fate.do !== 'truncate' && fate.do !== 'stall') return upstream.pipe(response)
    let left = fate.after
    for await (const chunk of upstream) {
      response.write(chunk.subarray(0, left))
      left -= chunk.length
      if (left <= 0) break
    }
    if (fate.do === 'truncate') socket.destroySoon()
    return
  }
}

function forward(port: number, { method, url, headers, body }: ReceivedRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ port, host: '127.0.0.1', method, path: url, headers }, resolve)
    request.on('error', reject)
    request.end(body)
  })
}
