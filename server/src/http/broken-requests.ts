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
  if (error.code === 'ECONNRESET' || !socket.writable || answersAnother(socket)) {
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

/**
 * Whether the connection is busy with an answer that ours would run into: one that has begun, or that belongs to a request
 * which came before, whole. Node keeps the answer under way here, and its own default handler looks at it too.
 */
function answersAnother(socket: Socket & { _httpMessage?: ServerResponse | null }): boolean {
  const answer = socket._httpMessage
  return answer != null && (answer.headersSent || answer.req.complete)
}
