import type { FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { Access } from '../../domain/access/api-key.ts'
import { type Clock, hour, minute } from '../../domain/time.ts'
import type { AuditThrottle } from '../audit/throttle.ts'
import type { ClientAddresses } from '../client-address.ts'

/** Records keys that were rejected. The response neither waits for it nor differs because of it. */
export interface RejectedKeys {
  /** A revoked or expired key: its organisation finds the attempt in the audit log. */
  inactive(access: Access, request: FastifyRequest): void
  /** A key that belongs to no organisation, so only the operator can be told: in the log. */
  unknown(request: FastifyRequest): void
}

// Bounds the entries of a leaked key that is tried from everywhere.
const maxNetworksPerKey = 16
const forgetNetworksAfterMs = hour
const logEveryMs = minute
const maxLoggedNetworks = 10

export function createRejectedKeys(
  audit: AuditThrottle,
  addresses: Pick<ClientAddresses, 'networkOf'>,
  log: Logger,
  clock: Clock,
): RejectedKeys {
  let networks = new Map<number, Set<string>>()
  let networksSince = clock()
  let suppressed = 0
  let suppressedNetworks = new Set<string>()
  let lastLoggedAt = Number.NEGATIVE_INFINITY

  /** The network, or `other` once the key was tried from too many. */
  function boundedNetwork(keyId: number, network: string): string {
    if (clock() - networksSince > forgetNetworksAfterMs) {
      networks = new Map()
      networksSince = clock()
    }
    const known = networks.get(keyId) ?? new Set()
    networks.set(keyId, known)
    if (known.size < maxNetworksPerKey) known.add(network)
    return known.has(network) ? network : 'other'
  }

  return {
    inactive({ keyId, organisationId, revokedAt }, request) {
      const network = boundedNetwork(keyId, addresses.networkOf(request))
      const reason = revokedAt === null ? 'expired' : 'revoked'
      audit.count({
        organisationId,
        by: { keyId },
        action: 'key.rejected',
        about: `${reason} ${network}`,
        details: { reason, network },
      })
    },
    unknown(request) {
      suppressed++
      if (suppressedNetworks.size < maxLoggedNetworks) suppressedNetworks.add(addresses.networkOf(request))
      const now = performance.now()
      if (now - lastLoggedAt < logEveryMs) return
      log.warn({ rejected: suppressed, networks: [...suppressedNetworks] }, 'rejected unknown API keys')
      suppressed = 0
      suppressedNetworks = new Set()
      lastLoggedAt = now
    },
  }
}
