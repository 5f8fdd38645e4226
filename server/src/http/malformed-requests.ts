import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { invalid } from '../domain/errors.ts'
import { errorBody } from './errors.ts'

type HttpSocket = Socket & { _httpMessage?: ServerResponse | null }

const messages: Record<string, string> = {
  HPE_HEADER_OVERFLOW: 'The headers are too large',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request did not arrive in time',
}

/** Responds where Node could not parse a request: malformed HTTP, oversized headers, a client that stops halfway. */
export function malformedRequestHandler(createRequestId: () => string) {
  return (error: NodeJS.ErrnoException, socket: HttpSocket): void => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy()
      return
    }
    // Node keeps the response in progress here; its default handler reads it too.
    const response = socket._httpMessage
    if (response?.headersSent || response?.req.complete) {
      // It belongs to an earlier, complete request on this connection. An error written now would be taken for its response.
      socket.pause()
      response.shouldKeepAlive = false
      response.once('close', () => socket.destroySoon())
      return
    }
    const body = errorBody(invalid(messages[error.code ?? ''] ?? 'The request is not valid HTTP'))
    socket.end(
      `HTTP/1.1 422 Unprocessable Entity\r\nX-Request-Id: ${createRequestId()}\r\n` +
        `Content-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
        `X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n${body}`,
      () => socket.destroy(),
    )
  }
}
