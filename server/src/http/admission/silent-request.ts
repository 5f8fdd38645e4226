import { Socket } from 'node:net'
import type { FastifyRequest } from 'fastify'
import type { HttpSocket } from './pipelining.ts'
import { onResponseEnd } from './response-end.ts'

/** Lets a request take longer than a connection may be silent. The limit is back after its response. */
export function allowSilence({ raw, server: { server } }: FastifyRequest): void {
  const socket: HttpSocket = raw.socket
  // Injected requests have no real socket.
  if (!(socket instanceof Socket)) return
  socket.setTimeout(0)
  const response = socket._httpMessage
  if (response) onResponseEnd(raw, response, () => socket.setTimeout(server.timeout))
}
