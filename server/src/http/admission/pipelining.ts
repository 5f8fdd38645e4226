import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { joinChunks } from './chunked-body.ts'
import { createSlices, sliceMs } from './slices.ts'

/** A connection with what Node keeps in it and its types leave out: the parser, and the response in progress. */
export type HttpSocket = Socket & {
  parser?: Parser | null
  _httpMessage?: ServerResponse | null
  _readableState?: { ended: boolean }
}

interface Parser {
  /** Called with each request after its headers. Returns 0, or what the parser should do instead of going on. */
  onIncoming: (request: IncomingMessage, keepAlive: boolean) => number
  resume(): void
}

/** The error with which Node reports a parser that was paused in the middle of what it had read. */
interface PausedError extends Error {
  rawPacket: Buffer
  bytesParsed: number
}

// The code of llhttp for a parser that should stop, and the name that Node gives it.
const pauseParser = 21
export const parserPaused = 'HPE_PAUSED'
// Clients that pipeline a few requests are always served.
const farAheadBytes = 4 * 1024
// A connection keeps up to 128 KB of requests that were sent ahead: 32 MB of all together.
const maxFarAhead = 256
/** The connections that hold more than a few requests. */
const farAhead = new Set<Socket>()
const noBytes = Buffer.alloc(1).subarray(1)

/**
 * Makes each connection have one request at a time. By itself, Node parses and starts every request of one read before
 * anything else runs: a write of 64 KB can have 3,000. A request that arrives before the response to the one before it is
 * held, and the parser stops there. Held requests of all connections start one by one, and never if their client is gone.
 */
export function limitPipelining(server: Server): void {
  const [handle] = server.listeners('request') as [RequestListener]
  // Clients that send ahead get at most half of the time.
  const turns = createSlices(() => pause(sliceMs))
  let lastHeld: IncomingMessage | null = null

  function hold(request: IncomingMessage, response: ServerResponse): void {
    lastHeld = request
    // Its turn: the response before it has been sent.
    response.once('socket', () => turns.start(() => start(request, response)))
  }

  function start(request: IncomingMessage, response: ServerResponse): void {
    const socket: HttpSocket = request.socket
    farAhead.delete(socket)
    if (socket.destroyed) return
    handle(request, response)
    socket.parser?.resume()
    // Completes a request that ended where the parser stopped.
    socket.emit('data', noBytes)
    socket.resume()
  }

  server.removeListener('request', handle)
  server.on('request', (request, response) => {
    if (response.socket === null) hold(request, response)
    else handle(request, response)
  })
  server.on('connection', ({ parser }: HttpSocket) => {
    if (!parser) return
    const { onIncoming } = parser
    parser.onIncoming = (request, keepAlive) => {
      joinChunks(request)
      const result = onIncoming(request, keepAlive)
      return request === lastHeld ? pauseParser : result
    }
  })
}

/** Keeps what was read after the request at which the parser stopped, for when it goes on. */
export function keepUnparsed(error: Error, socket: HttpSocket): void {
  const { rawPacket, bytesParsed } = error as PausedError
  // From now on the bytes reach the parser through the stream, which keeps them in order while it is paused.
  if (socket.listenerCount('data', ignoreData) === 0) {
    socket.on('data', ignoreData)
    socket.once('close', () => farAhead.delete(socket))
  }
  socket.pause()
  const isClosing = socket._httpMessage?.shouldKeepAlive === false
  const length = rawPacket.length - bytesParsed
  if (length === 0 || isClosing) return
  if (length > farAheadBytes) {
    if (farAhead.size >= maxFarAhead) {
      closeAfterResponse(socket)
      return
    }
    farAhead.add(socket)
  }
  socket.unshift(rawPacket.subarray(bytesParsed))
}

function ignoreData(): void {}

/** Whether the client has closed the connection, also if what it sent before is still unread, which keeps Node from closing it. */
export function isClosedByClient({ destroyed, _readableState }: HttpSocket): boolean {
  return destroyed || _readableState?.ended === true
}

/** Ends the connection after the response in progress, without reading on. */
export function closeAfterResponse(socket: HttpSocket): void {
  const response = socket._httpMessage
  if (!response) return
  socket.pause()
  response.shouldKeepAlive = false
  response.once('close', () => socket.destroySoon())
}
