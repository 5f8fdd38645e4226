import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { Access } from '../../domain/access/api-key.ts'
import { type DomainError, invalid, signalsUnavailable, type UnavailableError } from '../../domain/errors.ts'
import type { Queues } from '../../domain/store.ts'
import type { RequestLimits } from '../context.ts'
import { organisationOverloaded, overloaded } from '../errors.ts'
import { bodyLimit } from '../json-bodies.ts'
import { mcpPath } from '../mcp/path.ts'
import { votesPath } from '../votes/path.ts'
import { type Caller, createCallers } from './callers.ts'
import { pauseConnection } from './connection.ts'
import { createFairQueue, heavyWeight, lightWeight, unreadTimeoutMs } from './fair-queue.ts'
import { emptyOccupancy, hasRoom, type Occupancy, occupy, type RequestKind, shareOf, vacate } from './occupancy.ts'
import { isClosedByClient } from './pipelining.ts'
import { drainBody } from './request-drain.ts'
import { onResponseEnd } from './response-end.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Costs about as much as one row: many of them may be at work at once. */
    light?: boolean | undefined
    /** Costs as much as its body is long: a batch of many rows. */
    batch?: boolean | undefined
    /** Rejected while the server with the signals of the organisation is down. */
    changesSignals?: boolean | undefined
  }
  interface FastifyRequest extends Visit {}
}

/** What a request occupies. */
export interface Visit {
  kind: RequestKind
  /** Body bytes counted for this request while it is in flight, otherwise -1. */
  bodyBytesInFlight: number
  /** Admitted on a slot reserved for admins: to be rejected unless the key turns out to be one. */
  adminsOnly: boolean
  /** Null until the key is known. */
  caller: Caller | null
  weight: number
  isRunning: boolean
  isResponding: boolean
}

/** Rejects requests under overload before they cost anything, and shares the service among its callers. */
export interface LoadShedder {
  /** Applies the limits to the routes of `app`. */
  guard(app: FastifyInstance): void
  /** Applies the limits of the caller. Resolves when the request may start, or returns undefined if it may at once. */
  admit(request: FastifyRequest, reply: FastifyReply, access: Access): Promise<void> | undefined
  /** Lets a request go on that has waited for its body. */
  resume(request: FastifyRequest): Promise<void> | undefined
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
  inFlight(): Occupancy
  rejected(): Record<Reason, number>
}

const reasons = [
  'reads',
  'writes',
  'webhooks',
  'votes',
  'bodies',
  'stalled',
  'organisation',
  'key',
  'unread',
  'exports',
] as const

type Reason = (typeof reasons)[number]

// The service handles several thousand requests per second, so the last one in the queue waits a fraction of a second.
const capacity: Occupancy = { reads: 2_000, writes: 2_000, webhooks: 500, votes: 500, bodyBytes: 24 * 1024 * 1024 }
const adminReads = 200
// The kernel takes over smaller responses, whether the client reads or not.
const smallResponseBytes = 16 * 1024
// If the database has not answered for this long, a new request would only time out in the queue.
const stallTimeoutMs = 5_000
// If one of several servers has not recorded anything for this long, the requests that wait for it leave half of the room to others.
const suspectTimeoutMs = 1_000
const logEveryMs = 10_000

export function createLoadShedder({ refresh, signals }: Queues, limits: RequestLimits, log: Logger): LoadShedder {
  const organisationLimit = shareOf(capacity, limits.organisationShare)
  // An organisation that floods itself must not keep its admins from seeing that.
  const adminLimit = { ...organisationLimit, reads: organisationLimit.reads + adminReads }
  const keyLimit = shareOf(capacity, limits.keyShare)
  const queue = createFairQueue(limits.organisationConcurrency)
  const callerOf = createCallers()
  const used = emptyOccupancy()
  const rejected = Object.fromEntries(reasons.map((reason) => [reason, 0])) as Record<Reason, number>
  let suppressed = 0
  let lastLoggedAt = Number.NEGATIVE_INFINITY

  function rejectionReason(request: Visit, length: number): Reason | null {
    const { kind } = request
    if (refresh.stalledForMs() > stallTimeoutMs) return 'stalled'
    const hasBodyRoom = length === 0 || used.bodyBytes + length <= capacity.bodyBytes
    if (kind === 'reads') {
      if (!hasBodyRoom) return 'bodies'
      if (used.reads < capacity.reads) return null
      request.adminsOnly = true
      return used.reads < capacity.reads + adminReads ? null : 'reads'
    }
    if (signals.stalledForMs() > stallTimeoutMs) return 'stalled'
    if (used[kind] >= capacity[kind]) return kind
    return hasBodyRoom ? null : 'bodies'
  }

  function callerRejectionReason(caller: Caller, { role }: Access, kind: RequestKind, length: number): Reason | null {
    const { organisation, used: ofKey } = caller
    const limit = role === 'admin' ? adminLimit : organisationLimit
    if (!hasRoom(organisation.used, limit, kind, length)) return 'organisation'
    return hasRoom(ofKey, keyLimit, kind, length) ? null : 'key'
  }

  /** Whether this request would wait for a server of the database that is down, in room that all organisations share. */
  function waitsInVain({ kind }: Visit, { organisationId }: Access): boolean {
    const stalledMs = signals.serverStalledForMs(organisationId)
    if (stalledMs < suspectTimeoutMs) return false
    return stalledMs > stallTimeoutMs || used[kind] * 2 > capacity[kind] || used.bodyBytes * 2 > capacity.bodyBytes
  }

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

  function enter(request: FastifyRequest): Promise<void> | undefined {
    if (request.isRunning) return undefined
    request.isRunning = true
    const { keyId, organisation } = request.caller as Caller
    const turn = queue.enter(organisation[laneOf(request)], keyId, request.weight)
    return turn?.then(() => {
      if (isClosedByClient(request.raw.socket)) throw clientGone()
    })
  }

  function occupyFor(request: Visit, caller: Caller): void {
    occupy(caller.used, request.kind, request.bodyBytesInFlight)
    occupy(caller.organisation.used, request.kind, request.bodyBytesInFlight)
    request.caller = caller
  }

  function leave(request: Visit): void {
    if (!request.isRunning) return
    request.isRunning = false
    queue.leave((request.caller as Caller).organisation[laneOf(request)], request.weight)
  }

  function release(request: Visit): void {
    const { caller, kind, bodyBytesInFlight } = request
    request.bodyBytesInFlight = -1
    vacate(used, kind, bodyBytesInFlight)
    if (caller === null) return
    vacate(caller.used, kind, bodyBytesInFlight)
    vacate(caller.organisation.used, kind, bodyBytesInFlight)
  }

  /** The request stays in flight until the client has read the response, unless the client is unknown. */
  function respond(request: FastifyRequest, reply: FastifyReply, payload: unknown): void {
    request.isResponding = true
    leave(request)
    const { caller } = request
    if (caller === null) {
      // Otherwise strangers who read nothing would occupy the service. They get nothing but small or shared responses.
      release(request)
      return
    }
    const size = largeSize(payload)
    if (size === 0) {
      onResponseEnd(request.raw, reply.raw, () => release(request))
      return
    }
    const { socket } = request.raw
    const { keyId, organisation } = caller
    const lane = organisation[laneOf(request)]
    queue.addUnread(lane, keyId, size, socket)
    onResponseEnd(request.raw, reply.raw, () => {
      queue.removeUnread(lane, keyId, size, socket)
      release(request)
      if (socket.timeout !== unreadTimeoutMs) return
      if (socket.destroyed) countRejection('unread')
      else socket.setTimeout(request.server.server.timeout)
    })
  }

  return {
    guard(app) {
      app.decorateRequest('kind', 'reads')
      app.decorateRequest('bodyBytesInFlight', -1)
      app.decorateRequest('adminsOnly', false)
      app.decorateRequest('caller', null)
      app.decorateRequest('weight', heavyWeight)
      app.decorateRequest('isRunning', false)
      app.decorateRequest('isResponding', false)

      app.addHook('onRequest', (request, reply, done) => {
        const kind = kindOf(request)
        request.kind = kind
        const length = kind === 'webhooks' ? 0 : bodyLength(request)
        const reason = rejectionReason(request, length)
        if (reason !== null) {
          done(reject(reason, request, reply))
          return
        }
        occupy(used, kind, length)
        request.bodyBytesInFlight = length
        done()
      })

      app.addHook('preParsing', (request, _reply, body, done) => {
        // If the client disconnected during the key lookup, the body stream never ends and the request would hang.
        if (request.raw.destroyed) {
          done(clientGone())
          return
        }
        // A slow client must not keep other requests of its organisation waiting.
        if (request.raw.complete === false) leave(request)
        done(null, body)
      })

      // onSend runs for every request, also after a disconnect. Node's response events do not.
      app.addHook('onSend', (request, reply, payload, done) => {
        if (request.bodyBytesInFlight >= 0 && !request.isResponding) respond(request, reply, payload)
        drainBody(request, reply)
        done(null, payload)
      })
    },

    admit(request, reply, access) {
      if (request.caller === null) {
        const caller = callerOf(access)
        const { kind } = request
        const { config } = request.routeOptions
        if (config.changesSignals && waitsInVain(request, access)) {
          throw reject('stalled', request, reply, signalsUnavailable)
        }
        const reason = callerRejectionReason(caller, access, kind, request.bodyBytesInFlight)
        if (reason !== null) throw reject(reason, request, reply, organisationOverloaded)
        occupyFor(request, caller)
        request.weight = config.batch
          ? batchWeight(request.bodyBytesInFlight, limits)
          : config.light || request.is404
            ? lightWeight
            : heavyWeight
      }
      return enter(request)
    },

    resume: (request) => (request.caller === null ? undefined : enter(request)),

    tryAccept(kind, bodyBytes) {
      const visit: Visit = {
        kind,
        bodyBytesInFlight: bodyBytes,
        adminsOnly: false,
        caller: null,
        weight: lightWeight,
        isRunning: false,
        isResponding: false,
      }
      if (rejectionReason(visit, bodyBytes) !== null || visit.adminsOnly) return null
      occupy(used, kind, bodyBytes)
      return visit
    },

    tryAdmit(visit, access) {
      if (visit.kind === 'writes' && waitsInVain(visit, access)) return false
      const caller = callerOf(access)
      if (callerRejectionReason(caller, access, visit.kind, visit.bodyBytesInFlight) !== null) return false
      if (!queue.tryEnter(caller.organisation[laneOf(visit)], access.keyId, visit.weight)) return false
      visit.isRunning = true
      occupyFor(visit, caller)
      return true
    },

    leaveAfter(visit, request, response) {
      leave(visit)
      onResponseEnd(request, response, () => release(visit))
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

// About two short signals. Recording them separately would weigh as much.
const bytesPerWeight = 256

/** At most half of what an organisation may have at work: one batch is read while another one is stored. */
function batchWeight(bodyBytes: number, { organisationConcurrency }: RequestLimits): number {
  const most = Math.max(lightWeight, Math.floor(organisationConcurrency / 2))
  return Math.min(most, lightWeight + Math.floor(bodyBytes / bytesPerWeight))
}

/** By the route, because a path can be spelled in many ways. */
function kindOf({ method, routeOptions: { url = '' } }: FastifyRequest): RequestKind {
  if (method === 'GET' || method === 'HEAD') return 'reads'
  if (url === votesPath) return 'votes'
  if (url.startsWith('/webhooks/')) return 'webhooks'
  // All tools of agents read.
  return url.startsWith(mcpPath) ? 'reads' : 'writes'
}

/** The size of a response that takes memory until the client has read it; 0 if it is small, shared or a stream. */
function largeSize(payload: unknown): number {
  return typeof payload === 'string' && payload.length > smallResponseBytes ? Buffer.byteLength(payload) : 0
}

/** The client never sees it, but the request has to end. */
function clientGone(): DomainError {
  return invalid('The connection was closed')
}

function laneOf({ kind }: Visit): 'reads' | 'writes' {
  return kind === 'reads' ? 'reads' : 'writes'
}

function bodyLength(request: FastifyRequest): number {
  const { 'content-length': announced, 'transfer-encoding': encoding } = request.headers
  if (announced === undefined) return encoding === undefined ? 0 : request.routeOptions.bodyLimit
  const length = Number(announced)
  // A body over the limit of its route is rejected unread, so it takes no memory.
  return length > bodyLimit && length > request.routeOptions.bodyLimit ? 0 : length
}
