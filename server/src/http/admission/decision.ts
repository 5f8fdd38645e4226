import type { Access } from '../../domain/access/api-key.ts'
import { signalsUnavailable, type UnavailableError } from '../../domain/errors.ts'
import type { Queues } from '../../domain/store.ts'
import type { RequestLimits } from '../context.ts'
import { organisationOverloaded, overloaded } from '../errors.ts'
import { type Caller, emptyOccupancy, hasRoom, type Occupancy, type RequestKind, shareOf } from './occupancy.ts'
import type { StrangerBody } from './stranger-bodies.ts'

/** A request, with what it occupies. */
export interface Visit {
  kind: RequestKind
  /** Until the caller is known, no more than what arrives before the body is asked for. */
  bodyBytes: number
  /** How long the body is. */
  announcedBytes: number
  /** Rejected while the server with the signals of the organisation is down. */
  changesSignals: boolean
  /** Accepted on a slot reserved for admins: rejected unless the key turns out to be one. */
  adminsOnly: boolean
  weight: number
  /** It holds a turn of strangers, until its body is asked for or it has a response. */
  holdsTurn: boolean
  /** Of a stranger, from when it is asked for. */
  strangerBody: StrangerBody | null
  /** Null until the key is known. */
  caller: Caller | null
  isRunning: boolean
  isResponding: boolean
}

export const reasons = [
  'reads',
  'writes',
  'strangers',
  'bodies',
  'stalled',
  'organisation',
  'key',
  'unread',
  'exports',
] as const

export type Reason = (typeof reasons)[number]

// The service handles several thousand requests per second, so the last one in the queue waits a fraction of a second.
const capacity: Occupancy = { reads: 2_000, writes: 2_000, strangers: 1_000, bodyBytes: 24 * 1024 * 1024 }
const adminReads = 200
// If the database has not answered for this long, a new request would only time out in the queue.
const stallTimeoutMs = 5_000
// If one of several servers has not recorded anything for this long, the requests that wait for it leave half of the room to others.
const suspectTimeoutMs = 1_000

/**
 * The only place that decides whether a request is accepted, for Fastify and for the short path. It is asked when the headers have
 * arrived, before the request costs anything, and again when the key is known. Both return the reason to reject it, or null.
 */
export function createDecision({ refresh, signals }: Queues, limits: RequestLimits) {
  const organisationLimit = shareOf(capacity, limits.organisationShare)
  // An organisation that floods itself must not keep its admins from seeing that.
  const adminLimit = { ...organisationLimit, reads: organisationLimit.reads + adminReads }
  const keyLimit = shareOf(capacity, limits.keyShare)
  const used = { ...emptyOccupancy(), unknownBytes: 0 }

  /** Whether the request would wait for a server of the database that is down, in room that all organisations share. */
  function waitsInVain({ kind, changesSignals }: Visit, { organisationId }: Access): boolean {
    if (!changesSignals) return false
    const stalledMs = signals.serverStalledForMs(organisationId)
    if (stalledMs < suspectTimeoutMs) return false
    return stalledMs > stallTimeoutMs || used[kind] * 2 > capacity[kind] || used.bodyBytes * 2 > capacity.bodyBytes
  }

  return {
    /** What all requests occupy. Bodies of callers that are not known yet have room of their own, so that strangers cannot fill that of others. */
    used,

    byHeaders(visit: Visit): Reason | null {
      const { kind, bodyBytes } = visit
      if (refresh.stalledForMs() > stallTimeoutMs) return 'stalled'
      const room = kind === 'strangers' ? capacity.bodyBytes / 3 : capacity.bodyBytes
      const hasBodyRoom = bodyBytes === 0 || used.unknownBytes + bodyBytes <= room
      if (kind === 'reads') {
        if (!hasBodyRoom) return 'bodies'
        visit.adminsOnly = used.reads >= capacity.reads
        return used.reads < capacity.reads + adminReads ? null : 'reads'
      }
      if (signals.stalledForMs() > stallTimeoutMs) return 'stalled'
      if (used[kind] >= capacity[kind]) return kind
      return hasBodyRoom ? null : 'bodies'
    },

    byCaller(visit: Visit, access: Access, { organisation, used: ofKey }: Caller): Reason | null {
      if (visit.kind === 'strangers') {
        if (used.writes >= capacity.writes) return 'writes'
        used.strangers--
        used.writes++
        visit.kind = 'writes'
      }
      const { kind, announcedBytes } = visit
      const isAdmin = access.role === 'admin'
      if (visit.adminsOnly && !isAdmin) return 'reads'
      if (waitsInVain(visit, access)) return 'stalled'
      if (!hasRoom(organisation.used, isAdmin ? adminLimit : organisationLimit, kind, announcedBytes))
        return 'organisation'
      if (!hasRoom(ofKey, keyLimit, kind, announcedBytes)) return 'key'
      return used.bodyBytes + announcedBytes <= capacity.bodyBytes ? null : 'bodies'
    },
  }
}

/** What a rejected caller is told. */
export function callerError(reason: Reason): UnavailableError {
  if (reason === 'reads' || reason === 'writes' || reason === 'bodies') return overloaded
  return reason === 'stalled' ? signalsUnavailable : organisationOverloaded
}
