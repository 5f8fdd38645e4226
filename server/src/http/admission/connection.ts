import { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'

const pauseAfterRejectionMs = 500

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
