import { invalid } from '../domain/errors.ts'
import { closeAfterResponse, type HttpSocket, keepUnparsed, parserPaused } from './admission/pipelining.ts'
import { errorBody } from './errors.ts'

const timedOut = 'ERR_HTTP_REQUEST_TIMEOUT'

// Made once, because thousands of clients may disconnect at the same time.
const bodies: Record<string, string> = {
  HPE_HEADER_OVERFLOW: bodyOf('The headers are too large'),
  [timedOut]: bodyOf('The request did not arrive in time'),
}
const invalidHttp = bodyOf('The request is not valid HTTP')

function bodyOf(message: string): string {
  return errorBody(invalid(message))
}

/** Responds where Node could not parse a request: malformed HTTP, oversized headers, a client that stops halfway. */
export function malformedRequestHandler(createRequestId: () => string) {
  function respond(error: NodeJS.ErrnoException, socket: HttpSocket): void {
    // A client that disconnects in the middle of a request reads no response, and thousands may at the same time.
    if (error.code === 'ECONNRESET' || error.code === 'HPE_INVALID_EOF_STATE' || !socket.writable) {
      socket.destroy()
      return
    }
    const response = socket._httpMessage
    if (response?.headersSent || response?.req.complete) {
      // It belongs to an earlier, complete request on this connection. An error written now would be taken for its response.
      closeAfterResponse(socket)
      return
    }
    const body = bodies[error.code ?? ''] ?? invalidHttp
    socket.end(
      `HTTP/1.1 422 Unprocessable Entity\r\nX-Request-Id: ${createRequestId()}\r\n` +
        `Content-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
        `X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n${body}`,
      () => socket.destroy(),
    )
  }

  /**
   * After the process was busy for long, Node's timer comes before the connections are read, and takes a request that has
   * arrived for a late one. So the connection is read once more. One that we do not read at the moment is not late at all.
   */
  function respondIfLate(error: NodeJS.ErrnoException, socket: HttpSocket): void {
    if (socket.isPaused()) return
    const { bytesWritten } = socket
    const earlier = socket._httpMessage?.req.complete ? socket._httpMessage : null
    // Two, because the first comes in this turn if the connections were already read in it.
    setImmediate(setImmediate, () => {
      // Browsers open connections ahead. A response to nothing would be taken for the one to the request they send next.
      if (socket.bytesRead === 0) {
        socket.destroy()
        return
      }
      const response = socket._httpMessage ?? null
      const isInProgress = response !== earlier && response?.req.complete === true
      const isAnswered = response === null && socket.bytesWritten > bytesWritten
      if (!isInProgress && !isAnswered) respond(error, socket)
    })
  }

  return (error: NodeJS.ErrnoException, socket: HttpSocket): void => {
    if (error.code === parserPaused) keepUnparsed(error, socket)
    else if (error.code === timedOut) respondIfLate(error, socket)
    else respond(error, socket)
  }
}
