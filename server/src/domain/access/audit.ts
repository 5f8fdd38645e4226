import type { PageRequest } from '../page.ts'
import type { Instant } from '../time.ts'
import type { ChainHead, ChainState } from './audit-chain.ts'

export const auditActions = [
  'key.created',
  'key.rotated',
  'key.revoked',
  'key.rejected',
  'session.started',
  'session.ended',
  'person.added',
  'person.role_changed',
  'person.disabled',
  'person.enabled',
  'person.deleted',
  'invitation.created',
  'invitation.revoked',
  'share.created',
  'share.revoked',
  'prompt.created',
  'prompt.renamed',
  'prompt.deleted',
  'prompt.segments_changed',
  'repository.connected',
  'repository.updated',
  'repository.disconnected',
  'repository.secret_rotated',
  'secrets.reencrypted',
  'history.recorded',
  'history.imported',
  'history.exported',
  'deployment.recorded',
  'regression.dismissed',
  'regression.triaged',
  'shift.dismissed',
  'shift.triaged',
  'proposal.opened',
  'trial.started',
  'trial.changed',
  'trial.ended',
  'alert.added',
  'alert.updated',
  'alert.removed',
  'alert.secret_rotated',
  'alert.tested',
  'alert.delivery_retried',
  'source.added',
  'source.updated',
  'source.removed',
  'signal.retracted',
  'signals.erased',
  'signals.exported',
  'signals.imported',
  'organisation.renamed',
  'organisation.plan_changed',
  'organisation.segments_changed',
  'organisation.delivery_changed',
  'organisation.evaluations_changed',
  'organisation.exported',
  'organisation.imported',
  'audit.chained',
] as const

export type AuditAction = (typeof auditActions)[number]

/** Who makes a change: the holder of an API key, or the operator (null), through the CLI. */
export type Actor = { keyId: number } | null

export const operator: Actor = null

export type AuditDetails = Record<string, string | number>

/** Something that happened, to be added to the audit log. */
export interface NewAuditEntry {
  organisationId: number
  by: Actor
  at: Instant
  action: AuditAction
  /** Defaults to the key that acts. */
  subject?: { id: string | number; name: string }
  details?: AuditDetails
}

export interface AuditEntry {
  id: number
  /** The place in the organisation's chain, and the hash of the entry and everything before it. Null until it is chained. */
  seq: number | null
  hash: string | null
  at: Instant
  /** Null for the operator. `name` is the key's name at the time. `personId`: whom the key belongs to, if it is a person's. */
  actor: { keyId: number; name: string; personId: number | null } | null
  action: AuditAction
  /** The resource that was changed. `name` is its name at the time. */
  subject: { id: string; name: string }
  details: AuditDetails | null
}

/** A null field matches every entry. `since` is inclusive, `until` exclusive. */
export interface AuditFilter {
  action: AuditAction | null
  /** The ID of a key, or the operator. */
  actor: number | 'operator' | null
  /** The ID of a person: what they did with any of their keys, and in the console. */
  person?: number | null
  since: Instant | null
  until: Instant | null
}

/**
 * The store writes the entry of a change in the same transaction as the change, so neither can exist without the other. No
 * method changes or removes an entry: each contains the hash of the one before it (see audit-chain.ts).
 */
export interface AuditStore {
  /** For what leaves no other trace in the database, such as an export. */
  record(entry: NewAuditEntry): Promise<void>
  /** Newest first. */
  page(
    organisationId: number,
    filter: AuditFilter,
    request: PageRequest,
  ): Promise<{ entries: AuditEntry[]; totalCount: number }>
  /**
   * Reads the whole chain of an organisation and compares every hash. `known` is a head from an earlier time: a chain that
   * was cut off or rewritten does not contain it.
   */
  verify(organisationId: number, known?: ChainHead): Promise<ChainState>
}
