import type { Access } from '../../domain/access/api-key.ts'
import { createLane, type Lane } from './fair-queue.ts'
import { emptyOccupancy, type Occupancy } from './occupancy.ts'

/** A key, with what its requests occupy at the moment. */
export interface Caller {
  keyId: number
  organisation: Tenant
  used: Occupancy
  exports: number
}

/** An organisation, with what the requests of all its keys occupy. */
export interface Tenant {
  used: Occupancy
  exports: number
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
      tenant = { used: emptyOccupancy(), exports: 0, reads: createLane(), writes: createLane() }
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
