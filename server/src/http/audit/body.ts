import type { AuditEntryBody } from '../../../../contract/audit.ts'
import type { AuditEntry } from '../../domain/access/audit.ts'
import { isoTime } from '../../domain/time.ts'

export function toAuditEntryBody({ id, seq, hash, at, actor, action, subject, details }: AuditEntry): AuditEntryBody {
  return {
    id,
    at: isoTime(at),
    actor: actor && { key_id: actor.keyId, name: actor.name, person_id: actor.personId },
    action,
    subject,
    details,
    seq,
    hash,
  }
}
