import type { IncomingMessage, ServerResponse } from 'node:http'

/** Calls `done` when the response has been sent, or its connection has closed. */
export function onResponseEnd({ socket }: IncomingMessage, response: ServerResponse, done: () => void): void {
  if (response.destroyed || socket.destroyed) done()
  else response.on('close', done)
}
