import type { Access } from '../../domain/access/api-key.ts'
import { createLane, type Lane } from './fair-queue.ts'

/** Requests in flight and the bytes of their bodies: those of the process, of an organisation or of a key. */
export interface Occupancy {
  reads: number
  writes: number
  /** Whose caller is not known before the body has arrived, until then. Their bodies have room of their own: see stranger-bodies.ts. */
  strangers: number
  bodyBytes: number
}

export type RequestKind = 'reads' | 'writes' | 'strangers'

export function emptyOccupancy(): Occupancy {
  return { reads: 0, writes: 0, strangers: 0, bodyBytes: 0 }
}

export function shareOf({ reads, writes, strangers, bodyBytes }: Occupancy, percent: number): Occupancy {
  const part = (amount: number) => Math.ceil((amount * percent) / 100)
  return { reads: part(reads), writes: part(writes), strangers: part(strangers), bodyBytes: part(bodyBytes) }
}

/** A caller with no other body in flight has room for one of any size: otherwise a small share would reject large batches for ever. */
export function hasRoom(used: Occupancy, limit: Occupancy, kind: RequestKind, bodyBytes: number): boolean {
  return used[kind] < limit[kind] && (used.bodyBytes === 0 || used.bodyBytes + bodyBytes <= limit.bodyBytes)
}

export function occupy(used: Occupancy, kind: RequestKind, bodyBytes: number): void {
  used[kind]++
  used.bodyBytes += bodyBytes
}

export function vacate(used: Occupancy, kind: RequestKind, bodyBytes: number): void {
  used[kind]--
  used.bodyBytes -= bodyBytes
}

/** A key, with what its requests occupy at the moment. */
export interface Caller {
  keyId: number
  organisation: Tenant
  used: Occupancy
  exports: number
}

/** An organisation, with what the requests of all its keys occupy. */
interface Tenant {
  used: Occupancy
  exports: number
  /** Settles when no export reads from the database. */
  exportRead: Promise<unknown>
  reads: Lane
  writes: Lane
}

/** Looks up the caller of a request. Callers are remembered: there are no more of them than keys and organisations. */
export function createCallers(): (access: Access) => Caller {
  const callers = new Map<number, Caller>()
  const tenants = new Map<number, Tenant>()

  function tenantOf(organisationId: number): Tenant {
    let tenant = tenants.get(organisationId)
    if (tenant === undefined) {
      const [reads, writes] = [createLane(), createLane()]
      tenant = { used: emptyOccupancy(), exports: 0, exportRead: Promise.resolve(), reads, writes }
      tenants.set(organisationId, tenant)
    }
    return tenant
  }

  return ({ keyId: id, shared, organisationId }) => {
    // The share links of an organisation are one caller: there may be any number of them over time.
    const keyId = shared === undefined ? id : -organisationId
    let caller = callers.get(keyId)
    if (caller === undefined) {
      caller = { keyId, organisation: tenantOf(organisationId), used: emptyOccupancy(), exports: 0 }
      callers.set(keyId, caller)
    }
    return caller
  }
}
