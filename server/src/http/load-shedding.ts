import { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { invalid } from '../domain/errors.ts'
import type { Queues } from '../domain/store.ts'
import { overloaded } from './errors.ts'
import { bodyLimit } from './json-bodies.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Bytes of body that were reckoned with when the request was taken on; -1 while it is not under way. */
    reckoned: number
    /** It was taken on in the hope that it is an administrator's. */
    onlyAdmins: boolean
  }
}

/** Which requests are taken on. Others are refused at once, before they cost more: their body is not read, nothing is looked up. */
export interface Admission {
  /** Applies it to the routes of `app`. */
  guard(app: FastifyInstance): void
  inFlight(): { reads: number; writes: number; bodyBytes: number }
  rejected(): Record<Reason, number>
}

type Reason = 'reads' | 'writes' | 'bodies' | 'silence'

// Several thousand are answered in a second, so that the last of these waits for a fraction of one.
const mostWrites = 2_000
const mostReads = 2_000
const readsForAdmins = 200
const mostBodyBytes = 48 * 1024 * 1024
// Milliseconds. Where the database has answered nobody for so long, whoever comes now would wait in vain.
const longestSilence = 5_000
const restFor = 500
const tellEvery = 10_000

export function createAdmission({ refresh: lookUps, signals }: Queues, log: Logger): Admission {
  const refused: Record<Reason, number> = { reads: 0, writes: 0, bodies: 0, silence: 0 }
  let reads = 0
  let writes = 0
  let bodyBytes = 0
  let untold = 0
  let toldAt = Number.NEGATIVE_INFINITY

  function reasonAgainst(request: FastifyRequest, reading: boolean, length: number): Reason | null {
    if (lookUps.stalledForMs() > longestSilence) return 'silence'
    if (reading) {
      if (reads < mostReads) return null
      request.onlyAdmins = true
      return reads < mostReads + readsForAdmins ? null : 'reads'
    }
    if (signals.stalledForMs() > longestSilence) return 'silence'
    if (writes >= mostWrites) return 'writes'
    return bodyBytes + length > mostBodyBytes ? 'bodies' : null
  }

  function note(reason: Reason): void {
    refused[reason]++
    untold++
    const now = performance.now()
    if (now - toldAt < tellEvery) return
    log.warn({ refused: untold, reason, reads, writes, bodyBytes }, 'overload: requests were refused')
    untold = 0
    toldAt = now
  }

  return {
    guard(app) {
      app.decorateRequest('reckoned', -1)
      app.decorateRequest('onlyAdmins', false)

      app.addHook('onRequest', (request, reply, done) => {
        const reading = isReading(request)
        const length = bodyLength(request)
        const reason = reasonAgainst(request, reading, length)
        if (reason !== null) {
          note(reason)
          rest(request, reply)
          done(overloaded)
          return
        }
        if (reading) reads++
        else writes++
        bodyBytes += length
        request.reckoned = length
        done()
      })

      // The body of a request that was cut off while its key was looked up never ends, and nobody would notice.
      app.addHook('preParsing', (request, _reply, body, done) => {
        if (request.raw.destroyed) done(invalid('The request was cut off'))
        else done(null, body)
      })

      // Every request gets here, also that of a client who has left; the events of node's response do not tell of all.
      app.addHook('onSend', (request, _reply, payload, done) => {
        if (request.reckoned >= 0) {
          if (isReading(request)) reads--
          else writes--
          bodyBytes -= request.reckoned
          request.reckoned = -1
        }
        done(null, payload)
      })
    },
    inFlight: () => ({ reads, writes, bodyBytes }),
    rejected: () => refused,
  }
}

/**
 * Leaves the connection unread for a while after the refusal. To refuse costs as much as to answer, nearly all of it for the
 * HTTP around it: whoever asks again at once would take the time of those who are being answered.
 */
function rest({ raw: request }: FastifyRequest, { raw: response }: FastifyReply): void {
  const { socket } = request
  // What is injected comes over no connection.
  if (!(socket instanceof Socket)) return
  let open = 2
  const pause = () => {
    if (--open > 0) return
    socket.pause()
    setTimeout(() => socket.resume(), restFor).unref()
  }
  // Until both are over, node itself goes on reading.
  request.once('end', pause).resume()
  response.once('finish', pause)
}

function isReading({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD'
}

function bodyLength(request: FastifyRequest): number {
  const { 'content-length': announced, 'transfer-encoding': encoding } = request.headers
  if (announced === undefined) return encoding === undefined ? 0 : request.routeOptions.bodyLimit
  const length = Number(announced)
  // What is too large for its route is going to be refused for that, unread.
  return length > bodyLimit && length > request.routeOptions.bodyLimit ? 0 : length
}
