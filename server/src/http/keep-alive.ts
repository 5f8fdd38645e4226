import type { Server, ServerResponse } from 'node:http'

/** After this long without a byte in either direction, a connection is closed, whether it is idle or its client does not read. */
export const connectionTimeoutMs = 73_000
/** A second less is what clients are told, so that they do not use a connection that is being closed. */
const advertisedMs = 72_000

/**
 * Tells clients how long idle connections stay open, as Node does if it limits that itself. It would replace the timer of the
 * connection twice per request. The timer for silent connections runs anyway, and only starts again with each read and write.
 */
export function advertiseKeepAlive(server: Server): void {
  server.keepAliveTimeout = 0
  server.prependListener('request', (_request, response: ServerResponse & { _keepAliveTimeout?: number }) => {
    response._keepAliveTimeout = advertisedMs
  })
}
