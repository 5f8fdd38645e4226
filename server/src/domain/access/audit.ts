import type { PageRequest } from '../page.ts'
import type { Instant } from '../time.ts'

export const auditActions = [
  'key.created',
  'key.rotated',
  'key.revoked',
  'prompt.created',
  'prompt.renamed',
  'prompt.deleted',
  'repository.connected',
  'repository.disconnected',
  'repository.secret_rotated',
  'signal.retracted',
  'signals.erased',
  'organisation.plan_changed',
] as const

export type AuditAction = (typeof auditActions)[number]

/** Who makes a change: the holder of an API key, or the operator (null), through the CLI. */
export type Actor = { keyId: number } | null

export const operator: Actor = null

export type AuditDetails = Record<string, string | number>

export interface AuditEntry {
  id: number
  at: Instant
  /** Null for the operator. `name` is the key's name at the time. */
  actor: { keyId: number; name: string } | null
  action: AuditAction
  /** The resource that was changed. `name` is its name at the time. */
  subject: { id: string; name: string }
  details: AuditDetails | null
}

/** A null field matches every entry. `since` is inclusive, `until` exclusive. */
export interface AuditFilter {
  action: AuditAction | null
  since: Instant | null
  until: Instant | null
}

/**
 * Read-only: the store writes each entry in the same transaction as the change that it records, so neither can exist
 * without the other.
 */
export interface AuditStore {
  /** Newest first. */
  page(
    organisationId: number,
    filter: AuditFilter,
    request: PageRequest,
  ): Promise<{ entries: AuditEntry[]; totalCount: number }>
}
