import type {
  Actor,
  AuditAction,
  AuditDetails,
  AuditEntry,
  AuditFilter,
  AuditStore,
} from '../../domain/access/audit.ts'
import { pageOffset } from '../../domain/page.ts'
import type { Instant } from '../../domain/time.ts'
import { type Database, type Row, requireRow, type Statement, statement, type Value } from './database.ts'

/** A change to record in the audit log. */
export interface AuditedChange {
  organisationId: number
  by: Actor
  at: Instant
  action: AuditAction
  subject: { id: string | number; name: string }
  details?: AuditDetails
}

const columns = 'id, at, key_id, key_name, action, subject_id, subject_name, details'

export function sqlAudit(database: Database): AuditStore {
  return {
    async page(organisationId, filter, request) {
      const { conditions, parameters } = filterConditions(filter)
      const matching = `audit where organisation_id = ?${conditions}`
      const values = [organisationId, ...parameters]
      const [counts, rows] = await Promise.all([
        database.rows(`select count(*) as count from ${matching}`, values),
        database.rows(`select ${columns} from ${matching} order by at desc, id desc limit ? offset ?`, [
          ...values,
          request.limit,
          pageOffset(request),
        ]),
      ])
      return { entries: rows.map(toAuditEntry), totalCount: requireRow(counts).count as number }
    },
  }
}

/** The statement that records a change, to run in the same transaction as the change. */
export function auditEntry({ organisationId, by, at, action, subject, details }: AuditedChange): Statement {
  const keyId = by?.keyId ?? null
  return statement(
    `insert into audit (organisation_id, at, key_id, key_name, action, subject_id, subject_name, details)
     values (?, ?, ?, (select name from api_keys where id = ?), ?, ?, ?, ?) returning id`,
    [
      organisationId,
      at,
      keyId,
      keyId,
      action,
      String(subject.id),
      subject.name,
      details === undefined ? null : JSON.stringify(details),
    ],
  )
}

/** Replaces an entry's details, for changes that span several transactions. */
export function updateAuditDetails(organisationId: number, id: number, details: AuditDetails): Statement {
  return statement('update audit set details = ? where organisation_id = ? and id = ?', [
    JSON.stringify(details),
    organisationId,
    id,
  ])
}

function filterConditions({ action, since, until }: AuditFilter): { conditions: string; parameters: Value[] } {
  const parts: [string, Value | null][] = [
    ['action = ?', action],
    ['at >= ?', since],
    ['at < ?', until],
  ]
  const active = parts.filter(([, value]) => value !== null)
  return {
    conditions: active.map(([sql]) => ` and ${sql}`).join(''),
    parameters: active.map(([, value]) => value),
  }
}

function toAuditEntry(row: Row): AuditEntry {
  const keyId = row.key_id as number | null
  return {
    id: row.id as number,
    at: row.at as number,
    actor: keyId === null ? null : { keyId, name: row.key_name as string },
    action: row.action as AuditAction,
    subject: { id: row.subject_id as string, name: row.subject_name as string },
    details: row.details === null ? null : JSON.parse(row.details as string),
  }
}
