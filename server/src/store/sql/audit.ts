import type {
  Actor,
  AuditAction,
  AuditDetails,
  AuditEntry,
  AuditFilter,
  AuditStore,
} from '../../domain/access/audit.ts'
import { entriesBefore } from '../../domain/page.ts'
import type { Instant } from '../../domain/time.ts'
import { type Database, only, type Row, type Statement, statement, type Value } from './database.ts'

/** What is to be recorded, before it is. */
export interface Audited {
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
      const { conditions, parameters } = chosen(filter)
      const among = `audit where organisation_id = ?${conditions}`
      const bound = [organisationId, ...parameters]
      const [counted, rows] = await Promise.all([
        database.rows(`select count(*) as count from ${among}`, bound),
        database.rows(`select ${columns} from ${among} order by at desc, id desc limit ? offset ?`, [
          ...bound,
          request.limit,
          entriesBefore(request),
        ]),
      ])
      return { entries: rows.map(toAuditEntry), totalCount: only(counted).count as number }
    },
  }
}

/** The statement that records it, for the act that does it. */
export function auditEntry({ organisationId, by, at, action, subject, details }: Audited): Statement {
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

/** Puts other details in the place of those that an entry has, for acts that come one after the other. */
export function updateAuditDetails(organisationId: number, id: number, details: AuditDetails): Statement {
  return statement('update audit set details = ? where organisation_id = ? and id = ?', [
    JSON.stringify(details),
    organisationId,
    id,
  ])
}

function chosen({ action, since, until }: AuditFilter): { conditions: string; parameters: Value[] } {
  const parts: [string, Value | null][] = [
    ['action = ?', action],
    ['at >= ?', since],
    ['at < ?', until],
  ]
  const given = parts.filter(([, value]) => value !== null)
  return {
    conditions: given.map(([sql]) => ` and ${sql}`).join(''),
    parameters: given.map(([, value]) => value),
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
