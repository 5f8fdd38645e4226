import type { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { HttpSocket } from './pipelining.ts'

const pauseAfterRejectionMs = 500
const maxDrainBytes = 8 * 1024 * 1024
const maxDrainMs = 5_000

/**
 * Stops reading from the connection for a while after a rejection. A rejection costs about as much as a response, nearly
 * all of it HTTP handling, so a client that retries at once would take that time from the requests in flight.
 */
export function pauseConnection({ raw: request }: FastifyRequest, { raw: response }: FastifyReply): void {
  const { socket } = request
  // Injected requests have no real socket.
  if (!(socket instanceof Socket)) return
  let unfinished = 2
  const pause = () => {
    if (--unfinished > 0) return
    socket.pause()
    setTimeout(() => socket.resume(), pauseAfterRejectionMs).unref()
  }
  // Until both have finished, Node itself keeps reading from the socket.
  request.once('end', pause).resume()
  response.once('finish', pause)
}

/**
 * Reads on if a request gets its response before its body has arrived. Closing the connection at once would reset it, and
 * the reset discards the response that the client has not read yet.
 */
export function drainBody(fastifyRequest: FastifyRequest, reply: FastifyReply): void {
  const { raw: request } = fastifyRequest
  // Injected requests have no `complete`.
  if (request.complete !== false || !hasBody(fastifyRequest)) return
  // Fastify asks Node to close the connection after a body that it has rejected.
  reply.removeHeader('connection')
  const { socket } = request
  let received = 0
  const close = () => socket.destroy()
  const timer = setTimeout(close, maxDrainMs).unref()
  request.on('data', ({ length }: Buffer) => {
    received += length
    if (received > maxDrainBytes) close()
  })
  request.once('close', () => clearTimeout(timer))
  request.resume()
}

export function hasBody({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** Calls `done` when the response has been sent, which it may be already, or its connection has closed. */
export function onResponseEnd({ socket }: IncomingMessage, response: ServerResponse, done: () => void): void {
  if (response.destroyed || socket.destroyed || response.writableFinished) done()
  else response.on('close', done)
}

/** Lets a request take longer than a connection may be silent. The limit is back after its response. */
export function allowSilence({ raw, server: { server } }: FastifyRequest): void {
  const socket: HttpSocket = raw.socket
  // Injected requests have no real socket.
  if (!(socket instanceof Socket)) return
  socket.setTimeout(0)
  const response = socket._httpMessage
  if (response) onResponseEnd(raw, response, () => socket.setTimeout(server.timeout))
}
