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

/** Who changes something: somebody with a key, or the operator, by the command. */
export type Actor = { keyId: number } | null

export const operator: Actor = null

export type AuditDetails = Record<string, string | number>

export interface AuditEntry {
  id: number
  at: Instant
  /** Null for the operator. The name is the one that the key had then. */
  actor: { keyId: number; name: string } | null
  action: AuditAction
  /** What it was done to, and what people called that then. */
  subject: { id: string; name: string }
  details: AuditDetails | null
}

/** Which entries: all where a part is null. From `since` on, before `until`. */
export interface AuditFilter {
  action: AuditAction | null
  since: Instant | null
  until: Instant | null
}

/** Entries are written by whatever they record, in the same act: there is no way to add one, or to change something without. */
export interface AuditStore {
  /** Newest first. */
  page(
    organisationId: number,
    filter: AuditFilter,
    request: PageRequest,
  ): Promise<{ entries: AuditEntry[]; totalCount: number }>
}
