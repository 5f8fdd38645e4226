import type { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { Access } from '../../domain/access/api-key.ts'
import { invalid, type UnavailableError } from '../../domain/errors.ts'
import type { Queues } from '../../domain/store.ts'
import type { RequestLimits } from '../context.ts'
import { bodyTooLarge, overloaded } from '../errors.ts'
import { bodyLimit } from '../json-bodies.ts'
import { mcpPath } from '../mcp/path.ts'
import { readBody } from './body-reader.ts'
import { drainBody, hasBody, onResponseEnd, pauseConnection } from './connection.ts'
import { callerError, createDecision, type Reason, reasons, type Visit } from './decision.ts'
import { createFairQueue, heavyWeight, type Lane, lightWeight, unreadTimeoutMs } from './fair-queue.ts'
import { type Caller, createCallers, type Occupancy, occupy, type RequestKind, vacate } from './occupancy.ts'
import { isClosedByClient } from './pipelining.ts'
import { createSlices } from './slices.ts'
import { createStrangerBodies, strangerLimits } from './stranger-bodies.ts'
import { createTurnstile } from './turnstile.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Costs about as much as one row: many of them may be at work at once. */
    light?: boolean | undefined
    /** Costs as much as its body is long: a batch of many rows. */
    batch?: boolean | undefined
    /** Rejected while the server with the signals of the organisation is down. */
    changesSignals?: boolean | undefined
  }
  interface FastifyRequest {
    /** Null if the request was rejected before anything else. */
    visit: Visit | null
  }
}

/** Rejects requests under overload before they cost anything, and shares the service among its callers. */
export interface LoadShedder {
  /** Applies the limits to the routes of `app`. */
  guard(app: FastifyInstance): void
  /**
   * Applies the limits of the caller, once. Resolves when the request may start, or go on after it has waited for its body, and returns
   * undefined if it may at once.
   */
  admit(request: FastifyRequest, reply: FastifyReply, access: Access): Promise<void> | undefined
  /** Has a light request that turns out to cost more wait for its turn again, as a heavy one. */
  becomeHeavy(request: FastifyRequest): Promise<void> | undefined
  /** Accepts a light request without hooks. Null if it has to be rejected. */
  tryAccept(kind: 'reads' | 'writes', bodyBytes: number): Visit | null
  /** Starts it once its key is known. False if it has to be rejected or to wait, which `admit` does. */
  tryAdmit(visit: Visit, access: Access): boolean
  /** Ends it after a response that is small or shared, which has been sent or is on its way. */
  leaveAfter(visit: Visit, request: IncomingMessage, response: ServerResponse): void
  /** Ends it without a response. */
  withdraw(visit: Visit): void
  countRejection(reason: Reason): void
  /** Counts a rejection, slows its client down, and returns the error to throw. */
  reject(reason: Reason, request: FastifyRequest, reply: FastifyReply, error?: UnavailableError): UnavailableError
  inFlight(): Occupancy & { unknownBytes: number }
  rejected(): Record<Reason, number>
}

/** A response that several clients of a key may be sent at the same time, such as a delivery document. */
interface SharedResponse {
  lane: Lane
  keyId: number
  readers: number
}

// The kernel takes over smaller responses, whether the client reads or not.
const smallResponseBytes = 16 * 1024
// Bytes that come from a cache take memory anyway.
const bytesPerCachedByte = 1 / 4
// Making and sending more than this takes several milliseconds, in proportion to its size.
const slowResponseBytes = 256 * 1024
const slowBytesPerMs = 100 * 1024
// So does verifying and parsing a body.
const slowBodyBytes = 256 * 1024
// Strangers before their bodies are asked for, which the database may be asked about: more would hold up the queries of others.
const maxLookups = 16
const logEveryMs = 10_000

export function createLoadShedder(queues: Queues, limits: RequestLimits, log: Logger): LoadShedder {
  const decision = createDecision(queues, limits)
  const { used } = decision
  const queue = createFairQueue(limits.organisationConcurrency)
  const callerOf = createCallers()
  const rejected = Object.fromEntries(reasons.map((reason) => [reason, 0])) as Record<Reason, number>
  const shared = new Map<Buffer, SharedResponse>()
  const strangerBodies = createStrangerBodies(strangerLimits, () => countRejection('strangers'))
  const turns = createSlices(nextTurn, maxLookups)
  const [slowTurn, slowBodyTurn] = [createTurnstile(), createTurnstile()]
  let suppressed = 0
  let lastLoggedAt = Number.NEGATIVE_INFINITY

  /** Counts every rejection but logs at most one line per interval, so that an overload does not flood the log. */
  function countRejection(reason: Reason): void {
    rejected[reason]++
    suppressed++
    const now = performance.now()
    if (now - lastLoggedAt < logEveryMs) return
    log.warn({ rejected: suppressed, reason, ...used }, 'overloaded: rejecting requests')
    suppressed = 0
    lastLoggedAt = now
  }

  function reject(reason: Reason, request: FastifyRequest, reply: FastifyReply, error = overloaded): UnavailableError {
    countRejection(reason)
    pauseConnection(request, reply)
    return error
  }

  function enter(visit: Visit, { raw }: FastifyRequest): Promise<void> | undefined {
    if (visit.isRunning) return undefined
    visit.isRunning = true
    const turn = queue.enter(laneOf(visit), (visit.caller as Caller).keyId, visit.weight)
    return turn?.then(() => {
      if (isClosedByClient(raw.socket)) throw clientGone
    })
  }

  function occupyUnknown({ kind, bodyBytes }: Visit): void {
    used[kind]++
    used.unknownBytes += bodyBytes
  }

  function occupyFor(visit: Visit, caller: Caller): void {
    used.unknownBytes -= visit.bodyBytes
    used.bodyBytes += visit.announcedBytes
    visit.bodyBytes = visit.announcedBytes
    if (visit.strangerBody !== null) strangerBodies.remove(visit.strangerBody)
    occupy(caller.used, visit.kind, visit.bodyBytes)
    occupy(caller.organisation.used, visit.kind, visit.bodyBytes)
    visit.caller = caller
  }

  function leave(visit: Visit): void {
    if (!visit.isRunning) return
    visit.isRunning = false
    queue.leave(laneOf(visit), visit.weight)
  }

  function release({ caller, kind, bodyBytes, strangerBody }: Visit): void {
    if (caller === null) {
      used[kind]--
      used.unknownBytes -= bodyBytes
      if (strangerBody !== null) strangerBodies.remove(strangerBody)
      return
    }
    vacate(used, kind, bodyBytes)
    vacate(caller.used, kind, bodyBytes)
    vacate(caller.organisation.used, kind, bodyBytes)
  }

  /** Thousands of strangers that connect at the same time get 2 ms of each turn of the event loop. Nothing more is read of them meanwhile. */
  function waitForTurn(socket: Socket, visit: Visit, start: () => void): void {
    const { bodyBytes } = visit
    used.unknownBytes += bodyBytes
    // Injected requests have no real socket.
    const isReal = socket instanceof Socket
    if (isReal) socket.pause()
    turns.start(() => {
      visit.holdsTurn = true
      used.unknownBytes -= bodyBytes
      if (isReal) socket.resume()
      start()
    })
  }

  function endTurn(visit: Visit): void {
    if (visit.holdsTurn) turns.end()
    visit.holdsTurn = false
  }

  /**
   * The only way in which the body of a request is read whose caller is not known, whatever its route. It is in memory when the route
   * gets it.
   */
  async function readFromStranger(request: FastifyRequest, visit: Visit, stream: Readable): Promise<Readable> {
    const { routeOptions, params, server } = request
    const { url, bodyLimit } = routeOptions
    if (Number(request.headers['content-length']) > bodyLimit) throw bodyTooLarge()
    visit.strangerBody = {
      origin: {
        target: `${url} ${JSON.stringify(params)}`,
        bodyLimit,
        networks: server.clientAddresses.networksOf(request),
      },
      bytes: 0,
      startedAt: performance.now(),
      abort: null,
      groups: [],
    }
    used.unknownBytes -= visit.bodyBytes
    visit.bodyBytes = 0
    const parts = await readBody(stream, visit.strangerBody, strangerBodies)
    visit.announcedBytes = visit.strangerBody.bytes
    if (visit.announcedBytes > slowBodyBytes) await slowBodyTurn()
    return Readable.from(parts)
  }

  /** The request stays in flight until the client has read the response, unless the client is unknown. */
  function respond(
    visit: Visit,
    { raw: request, server }: FastifyRequest,
    response: ServerResponse,
    payload: unknown,
    isShared: boolean,
  ): void {
    visit.isResponding = true
    endTurn(visit)
    leave(visit)
    if (visit.caller === null) {
      // Otherwise strangers who read nothing would occupy the service. They get nothing but small or shared responses.
      release(visit)
      return
    }
    if (!Buffer.isBuffer(payload) || payload.length <= smallResponseBytes) {
      onResponseEnd(request, response, () => release(visit))
      return
    }
    if (!isShared && payload.length > slowResponseBytes) queue.rest(laneOf(visit), payload.length / slowBytesPerMs)
    const { socket } = request
    const removeUnread = addUnread(visit, payload, isShared, socket)
    onResponseEnd(request, response, () => {
      removeUnread()
      release(visit)
      if (socket.timeout !== unreadTimeoutMs) return
      if (socket.destroyed) countRejection('unread')
      else socket.setTimeout(server.server.timeout)
    })
  }

  /** Counts a large response until the returned function is called. Bytes that several clients are being sent count once. */
  function addUnread(visit: Visit, payload: Buffer, isShared: boolean, socket: Socket): () => void {
    const size = payload.length * (isShared ? bytesPerCachedByte : 1)
    const own = { lane: laneOf(visit), keyId: (visit.caller as Caller).keyId, readers: 0 }
    const response = shared.get(payload) ?? own
    shared.set(payload, response)
    const { lane, keyId } = response
    queue.addUnread(lane, keyId, response.readers === 0 ? size : 0, socket)
    response.readers++
    return () => {
      response.readers--
      if (response.readers === 0) shared.delete(payload)
      queue.removeUnread(lane, keyId, response.readers === 0 ? size : 0, socket)
    }
  }

  return {
    guard(app) {
      app.decorateRequest('visit', null)

      app.addHook('onRequest', (request, reply, done) => {
        const visit = newVisit(request, limits)
        const refuse = (reason: Reason) => done(reject(reason, request, reply))
        const accept = () => {
          const reason = decision.byHeaders(visit)
          if (reason !== null) {
            endTurn(visit)
            refuse(reason)
            return
          }
          occupyUnknown(visit)
          request.visit = visit
          done()
        }
        // Those that would be rejected now do not wait.
        const reason = visit.kind === 'strangers' ? decision.byHeaders(visit) : null
        if (reason !== null) refuse(reason)
        else if (visit.kind === 'strangers') waitForTurn(request.raw.socket, visit, accept)
        else accept()
      })

      app.addHook('preParsing', (request, _reply, body, done) => {
        const visit = request.visit as Visit
        endTurn(visit)
        // If the client disconnected during the key lookup, the body stream never ends and the request would hang.
        if (request.raw.destroyed) {
          done(clientGone)
          return
        }
        if (visit.caller === null && !isRead(request) && hasBody(request)) {
          readFromStranger(request, visit, body as Readable).then((read) => done(null, read), done)
          return
        }
        // A slow client must not keep other requests of its organisation waiting.
        if (request.raw.complete === false) leave(visit)
        done(null, body)
      })

      // onSend runs for every request, also after a disconnect. Node's response events do not.
      app.addHook('onSend', (request, reply, payload, done) => {
        const { visit } = request
        const isText = typeof payload === 'string'
        const send = () => {
          // Node would measure a long text, copy it when it sends it, and keep both until the client has read it.
          const sent = isText && payload.length > smallResponseBytes ? Buffer.from(payload) : payload
          if (visit !== null && !visit.isResponding) respond(visit, request, reply.raw, sent, !isText)
          drainBody(request, reply)
          done(null, sent)
        }
        const isSlow = (isText || Buffer.isBuffer(payload)) && payload.length > slowResponseBytes
        if (isSlow) void slowTurn().then(send)
        else send()
      })
    },

    admit(request, reply, access) {
      const visit = request.visit as Visit
      if (visit.caller === null) {
        const caller = callerOf(access)
        const reason = decision.byCaller(visit, access, caller)
        if (reason !== null) throw reject(reason, request, reply, callerError(reason))
        occupyFor(visit, caller)
      }
      return enter(visit, request)
    },

    becomeHeavy(request) {
      const visit = request.visit as Visit
      leave(visit)
      visit.weight = heavyWeight
      return enter(visit, request)
    },

    tryAccept(kind, bodyBytes) {
      const visit: Visit = {
        kind,
        bodyBytes: readAhead(bodyBytes),
        announcedBytes: bodyBytes,
        changesSignals: kind === 'writes',
        adminsOnly: false,
        weight: lightWeight,
        holdsTurn: false,
        strangerBody: null,
        caller: null,
        isRunning: false,
        isResponding: false,
      }
      if (decision.byHeaders(visit) !== null || visit.adminsOnly) return null
      occupyUnknown(visit)
      return visit
    },

    tryAdmit(visit, access) {
      const caller = callerOf(access)
      if (decision.byCaller(visit, access, caller) !== null) return false
      if (!queue.tryEnter(laneOf(visit, caller), access.keyId, visit.weight)) return false
      visit.isRunning = true
      occupyFor(visit, caller)
      return true
    },

    leaveAfter(visit, request, response) {
      leave(visit)
      // The kernel has taken all of it, which this process no longer holds.
      if (response.socket?.writableLength === 0) release(visit)
      else onResponseEnd(request, response, () => release(visit))
    },

    withdraw(visit) {
      leave(visit)
      release(visit)
    },

    countRejection,
    reject,
    inFlight: () => used,
    rejected: () => rejected,
  }
}

function newVisit(request: FastifyRequest, limits: RequestLimits): Visit {
  const { config } = request.routeOptions
  const kind = kindOf(request)
  const announcedBytes = bodyLength(request)
  const weight = config.light || request.is404 ? lightWeight : heavyWeight
  return {
    kind,
    // Strangers are not read on until they are started.
    bodyBytes: readAhead(
      kind === 'strangers' ? Math.min(request.raw.socket.bytesRead ?? 0, announcedBytes) : announcedBytes,
    ),
    announcedBytes,
    changesSignals: config.changesSignals === true,
    adminsOnly: false,
    weight: config.batch ? batchWeight(announcedBytes, limits) : weight,
    holdsTurn: false,
    strangerBody: null,
    caller: null,
    isRunning: false,
    isResponding: false,
  }
}

// Those of ordinary signals always have room: no more than 17 MB, with all places taken.
const smallBodyBytes = 4 * 1024

/** What counts of a body that is not asked for yet. Node reads no further, so senders who announce much take no room of others. */
function readAhead(announcedBytes: number): number {
  return announcedBytes <= smallBodyBytes ? 0 : Math.min(announcedBytes, bodyLimit)
}

// About two short signals. Recording them separately would weigh as much.
const bytesPerWeight = 256

/** At most half of what an organisation may have at work: one batch is read while another one is stored. */
function batchWeight(bodyBytes: number, { organisationConcurrency }: RequestLimits): number {
  const most = Math.max(lightWeight, Math.floor(organisationConcurrency / 2))
  return Math.min(most, lightWeight + Math.floor(bodyBytes / bytesPerWeight))
}

/** By the route, because a path can be spelled in many ways. */
function kindOf(request: FastifyRequest): RequestKind {
  const { url = '', config } = request.routeOptions
  if (isRead(request)) return 'reads'
  if (!config.knowsCaller) return 'strangers'
  // All tools of agents read.
  return url.startsWith(mcpPath) ? 'reads' : 'writes'
}

/** Fastify reads no body of these. */
function isRead({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** The client never sees it, but the request has to end. */
const clientGone = invalid('The connection was closed')

function laneOf(visit: Visit, caller = visit.caller as Caller): Lane {
  return visit.kind === 'reads' ? caller.organisation.reads : caller.organisation.writes
}

function bodyLength(request: FastifyRequest): number {
  const { 'content-length': announced, 'transfer-encoding': encoding } = request.headers
  if (announced === undefined) return encoding === undefined ? 0 : request.routeOptions.bodyLimit
  const length = Number(announced)
  // A body over the limit of its route is rejected unread, so it takes no memory.
  return length > bodyLimit && length > request.routeOptions.bodyLimit ? 0 : length
}
