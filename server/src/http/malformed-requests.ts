import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { invalid } from '../domain/errors.ts'
import { errorBody } from './errors.ts'

type HttpSocket = Socket & { _httpMessage?: ServerResponse | null }

const reasons: Record<string, string> = {
  HPE_HEADER_OVERFLOW: 'The headers are too large',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request did not arrive in time',
}

/** Answers what never became a request: malformed HTTP, headers without end, a client that stops in the middle. */
export function brokenRequestHandler(newRequestId: () => string) {
  return (error: NodeJS.ErrnoException, socket: HttpSocket): void => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy()
      return
    }
    // Node keeps the answer under way here, and its own default handler looks at it too.
    const answer = socket._httpMessage
    if (answer?.headersSent || answer?.req.complete) {
      // It belongs to a request that came before, whole. What is wrong with the next must not be taken for its answer.
      socket.pause()
      answer.shouldKeepAlive = false
      answer.once('close', () => socket.destroySoon())
      return
    }
    const body = errorBody(invalid(reasons[error.code ?? ''] ?? 'The request is not valid HTTP'))
    socket.end(
      `HTTP/1.1 422 Unprocessable Entity\r\nX-Request-Id: ${newRequestId()}\r\n` +
        `Content-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
        `Connection: close\r\n\r\n${body}`,
      () => socket.destroy(),
    )
  }
}
