import type { FastifyReply, FastifyRequest } from 'fastify'

const maxDrainBytes = 8 * 1024 * 1024
const maxDrainMs = 5_000

/**
 * Reads on if a request gets its response before its body has arrived. Closing the connection at once would reset it, and
 * the reset discards the response that the client has not read yet.
 */
export function drainBody({ raw: request, headers }: FastifyRequest, reply: FastifyReply): void {
  // Injected requests have no `complete`.
  if (request.complete !== false || !hasBody(headers)) return
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

function hasBody(headers: FastifyRequest['headers']): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}
