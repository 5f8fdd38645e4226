import type { IncomingMessage, ServerResponse } from 'node:http'

/** Calls `done` when the response has been sent, which it may be already, or its connection has closed. */
export function onResponseEnd({ socket }: IncomingMessage, response: ServerResponse, done: () => void): void {
  if (response.destroyed || socket.destroyed || response.writableFinished) done()
  else response.on('close', done)
}
