import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { openSocket } from '../../testing/socket.ts'

/** A response as received. */
export interface Response {
  status: number
  /** By lower-case name; the last one of several counts. */
  headers: Map<string, string>
  body: Buffer
}

const timeoutMs = 15_000

/** A keep-alive connection that reconnects after the service has closed it. */
export interface Connection {
  /** Null if the service closed the connection without a response. */
  exchange(method: string, bytes: Buffer): Promise<Response | null>
  close(): void
}

export function createConnection(port: number): Connection {
  let socket: Socket | null = null
  function close(): void {
    socket?.destroy()
    socket = null
  }
  return {
    async exchange(method, bytes) {
      socket ??= await openSocket(port)
      const { responses, closed } = await exchange(socket, [bytes], { methods: [method], pauseMs: 0, halfClose: false })
      const [response] = responses
      if (closed || response?.headers.get('connection') === 'close') close()
      // A surplus response is read in place of the next one, whose request id it does not have.
      else socket.pause()
      return response ?? null
    },
    close,
  }
}

export interface Exchange {
  /** Of the requests, in order: a response to HEAD has no body. The exchange ends when all have a response. */
  methods: string[]
  /** Between two pieces. */
  pauseMs: number
  /** Whether the client closes its sending side after the last piece. */
  halfClose: boolean
  timeoutMs?: number
}

/** Sends pieces, and waits for all responses or until the service closes the connection. */
export function exchange(
  socket: Socket,
  pieces: Buffer[],
  { methods, pauseMs, halfClose, ...limits }: Exchange,
): Promise<{ responses: Response[]; closed: boolean }> {
  return new Promise((resolve, reject) => {
    const responses: Response[] = []
    let unread: Buffer = Buffer.alloc(0)
    const timer = setTimeout(
      () => finish(() => reject(new Error('no response in time'))),
      limits.timeoutMs ?? timeoutMs,
    )

    function finish(settle: () => void): void {
      clearTimeout(timer)
      socket.off('data', receive).off('close', onClose)
      settle()
    }
    function parse(closed: boolean): void {
      for (;;) {
        const parsed = parseResponse(unread, methods[responses.length] ?? 'GET', closed)
        if (parsed === null) return
        unread = unread.subarray(parsed.length)
        if (parsed.response.status >= 200) responses.push(parsed.response)
      }
    }
    function receive(chunk: Buffer): void {
      unread = unread.length === 0 ? chunk : Buffer.concat([unread, chunk])
      try {
        parse(false)
        if (responses.length >= methods.length && unread.length === 0)
          finish(() => resolve({ responses, closed: false }))
      } catch (error) {
        finish(() => reject(error))
      }
    }
    function onClose(): void {
      finish(() => {
        parse(true)
        if (unread.length > 0) reject(new Error(`a response was cut off: ${unread.toString('latin1', 0, 2_000)}`))
        else resolve({ responses, closed: true })
      })
    }
    socket.on('data', receive).on('close', onClose).resume()
    sendPieces(socket, pieces, pauseMs, halfClose).catch(reject)
  })
}

async function sendPieces(socket: Socket, pieces: Buffer[], pauseMs: number, halfClose: boolean): Promise<void> {
  for (const [i, piece] of pieces.entries()) {
    if (i > 0) await pause(pauseMs)
    if (socket.writable) socket.write(piece)
  }
  if (halfClose) socket.end()
}

/** The first response in the bytes, with its length; null if it is incomplete. */
function parseResponse(bytes: Buffer, method: string, closed: boolean): { response: Response; length: number } | null {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd < 0) return null
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n')
  if (!/^HTTP\/1\.1 \d{3} /.test(statusLine)) throw new Error(`not an HTTP response: ${statusLine}`)
  const status = Number(statusLine.slice(9, 12))
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  const start = headEnd + 4
  const result = (body: Buffer, end: number) => ({ response: { status, headers, body }, length: end })
  // Malformed HTTP gets a response with a body, even if it was meant to be a HEAD.
  const hasNoBody = method === 'HEAD' && bytes[start] !== 0x7b
  if (hasNoBody || status < 200 || status === 204 || status === 304) return result(Buffer.alloc(0), start)
  if (headers.get('transfer-encoding') === 'chunked') return parseChunks(bytes, start, result)
  const length = headers.get('content-length')
  if (length === undefined) return closed ? result(bytes.subarray(start), bytes.length) : null
  const end = start + Number(length)
  return bytes.length < end ? null : result(bytes.subarray(start, end), end)
}

function parseChunks<Result>(
  bytes: Buffer,
  start: number,
  result: (body: Buffer, end: number) => Result,
): Result | null {
  const chunks: Buffer[] = []
  for (let at = start; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at)
    if (lineEnd < 0) return null
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16)
    const end = lineEnd + 2 + size
    if (bytes.length < end + 2) return null
    if (size === 0) return result(Buffer.concat(chunks), end + 2)
    chunks.push(bytes.subarray(lineEnd + 2, end))
    at = end + 2
  }
}
