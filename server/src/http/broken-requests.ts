import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { invalid } from '../domain/errors.ts'
import { errorBody } from './errors.ts'

const reasons: Record<string, string> = {
  HPE_HEADER_OVERFLOW: 'The headers are too large',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request did not arrive in time',
}

/** Answers what never became a request: malformed HTTP, headers without end, a client that stops in the middle. */
export function answerBrokenRequests(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable || answerBegun(socket)) {
    socket.destroy()
    return
  }
  const body = errorBody(invalid(reasons[error.code ?? ''] ?? 'The request is not valid HTTP'))
  socket.end(
    `HTTP/1.1 422 Unprocessable Entity\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  )
}

// Node keeps the answer under way here, and its own default handler looks at it for the same reason.
function answerBegun(socket: Socket & { _httpMessage?: ServerResponse | null }): boolean {
  return socket._httpMessage?.headersSent ?? false
}
