import { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { invalid } from '../domain/errors.ts'
import type { Queues } from '../domain/store.ts'
import { overloaded } from './errors.ts'
import { bodyLimit } from './json-bodies.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Body bytes counted for this request while it is in flight, otherwise -1. */
    bodyBytesInFlight: number
    /** Admitted on a slot reserved for admins: to be rejected unless the key turns out to be one. */
    adminsOnly: boolean
  }
}

/** Rejects requests under overload before they cost anything: no body is read, no key is looked up. */
export interface LoadShedder {
  /** Applies the limits to the routes of `app`. */
  guard(app: FastifyInstance): void
  inFlight(): { reads: number; writes: number; bodyBytes: number }
  rejected(): Record<Reason, number>
}

type Reason = 'reads' | 'writes' | 'bodies' | 'stalled'

// The service handles several thousand requests per second, so the last one in the queue waits a fraction of a second.
const maxWrites = 2_000
const maxReads = 2_000
const adminReads = 200
const maxBodyBytes = 48 * 1024 * 1024
// If the database has not answered for this long, a new request would only time out in the queue.
const stallTimeoutMs = 5_000
const pauseAfterRejectionMs = 500
const logEveryMs = 10_000

export function createLoadShedder({ refresh, signals }: Queues, log: Logger): LoadShedder {
  const rejected: Record<Reason, number> = { reads: 0, writes: 0, bodies: 0, stalled: 0 }
  let reads = 0
  let writes = 0
  let bodyBytes = 0
  let suppressed = 0
  let lastLoggedAt = Number.NEGATIVE_INFINITY

  function rejectionReason(request: FastifyRequest, isRead: boolean, length: number): Reason | null {
    if (refresh.stalledForMs() > stallTimeoutMs) return 'stalled'
    if (isRead) {
      if (reads < maxReads) return null
      request.adminsOnly = true
      return reads < maxReads + adminReads ? null : 'reads'
    }
    if (signals.stalledForMs() > stallTimeoutMs) return 'stalled'
    if (writes >= maxWrites) return 'writes'
    return bodyBytes + length > maxBodyBytes ? 'bodies' : null
  }

  /** Counts every rejection but logs at most one line per interval, so that an overload does not flood the log. */
  function countRejection(reason: Reason): void {
    rejected[reason]++
    suppressed++
    const now = performance.now()
    if (now - lastLoggedAt < logEveryMs) return
    log.warn({ rejected: suppressed, reason, reads, writes, bodyBytes }, 'overloaded: rejecting requests')
    suppressed = 0
    lastLoggedAt = now
  }

  return {
    guard(app) {
      app.decorateRequest('bodyBytesInFlight', -1)
      app.decorateRequest('adminsOnly', false)

      app.addHook('onRequest', (request, reply, done) => {
        const isRead = isReadRequest(request)
        const length = bodyLength(request)
        const reason = rejectionReason(request, isRead, length)
        if (reason !== null) {
          countRejection(reason)
          pauseConnection(request, reply)
          done(overloaded)
          return
        }
        if (isRead) reads++
        else writes++
        bodyBytes += length
        request.bodyBytesInFlight = length
        done()
      })

      // If the client disconnected during the key lookup, the body stream never ends and the request would hang.
      app.addHook('preParsing', (request, _reply, body, done) => {
        if (request.raw.destroyed) done(invalid('The connection closed before the body arrived'))
        else done(null, body)
      })

      // onSend runs for every request, also after a disconnect. Node's response events do not.
      app.addHook('onSend', (request, _reply, payload, done) => {
        if (request.bodyBytesInFlight >= 0) {
          if (isReadRequest(request)) reads--
          else writes--
          bodyBytes -= request.bodyBytesInFlight
          request.bodyBytesInFlight = -1
        }
        done(null, payload)
      })
    },
    inFlight: () => ({ reads, writes, bodyBytes }),
    rejected: () => rejected,
  }
}

/**
 * Stops reading from the connection for a while after a rejection. A rejection costs about as much as a response, nearly
 * all of it HTTP handling, so a client that retries at once would take that time from the requests in flight.
 */
function pauseConnection({ raw: request }: FastifyRequest, { raw: response }: FastifyReply): void {
  const { socket } = request
  // Injected requests have no real socket.
  if (!(socket instanceof Socket)) return
  let unfinished = 2
  const pause = () => {
    if (--unfinished > 0) return
    socket.pause()
    setTimeout(() => socket.resume(), pauseAfterRejectionMs).unref()
  }
  // Until both have finished, Node itself keeps reading from the socket.
  request.once('end', pause).resume()
  response.once('finish', pause)
}

function isReadRequest({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD'
}

function bodyLength(request: FastifyRequest): number {
  const { 'content-length': announced, 'transfer-encoding': encoding } = request.headers
  if (announced === undefined) return encoding === undefined ? 0 : request.routeOptions.bodyLimit
  const length = Number(announced)
  // A body over the limit of its route is rejected unread, so it takes no memory.
  return length > bodyLimit && length > request.routeOptions.bodyLimit ? 0 : length
}
