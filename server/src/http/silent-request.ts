import { Socket } from 'node:net'
import type { FastifyRequest } from 'fastify'

/** Lets a request take longer than a connection may be silent. The limit is back with the next request. */
export function allowSilence({ raw: { socket } }: FastifyRequest): void {
  // Injected requests have no real socket.
  if (socket instanceof Socket) socket.setTimeout(0)
}
