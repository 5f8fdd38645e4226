import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

// Responses that wait for earlier ones on their connection. Node never emits `close` for one whose connection closes first.
const pipelined = new WeakMap<Socket, Set<() => void>>()

/** Calls `done` when the response has been sent, or its connection has closed. */
export function onResponseEnd({ socket }: IncomingMessage, response: ServerResponse, done: () => void): void {
  if (response.destroyed || socket.destroyed) {
    done()
    return
  }
  if (response.socket !== null) {
    response.on('close', done)
    return
  }
  const waiting = pipelined.get(socket) ?? watchConnection(socket)
  waiting.add(done)
  response.on('close', () => {
    if (waiting.delete(done)) done()
  })
}

function watchConnection(socket: Socket): Set<() => void> {
  const waiting = new Set<() => void>()
  pipelined.set(socket, waiting)
  socket.once('close', () => {
    for (const done of waiting) done()
    waiting.clear()
  })
  return waiting
}
