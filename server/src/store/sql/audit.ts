import type { AuditAction, AuditEntry, AuditFilter, AuditStore } from '../../domain/access/audit.ts'
import { auditEntry, verifyChain } from './audit-chain.ts'
import type { Database, Row, Value } from './database.ts'
import { pageRows } from './page-rows.ts'

const columns = `id, seq, hash, at, key_id, key_name, action, subject_id, subject_name, details,
  (select person_id from api_keys where api_keys.id = audit.key_id) as person_id`

export function sqlAudit(database: Database): AuditStore {
  return {
    async record(entry) {
      await database.write([auditEntry(entry)])
    },

    async page(organisationId, filter, request) {
      const { conditions, parameters } = filterConditions(filter)
      const matching = `audit where organisation_id = ?${conditions}`
      const values = [organisationId, ...parameters]
      const listed = { columns, from: matching, parameters: values, order: 'at desc, id desc' }
      const { rows, totalCount } = await pageRows(database, listed, request)
      return { entries: rows.map(toAuditEntry), totalCount }
    },

    verify: (organisationId, known) => verifyChain(database.rows, organisationId, known),
  }
}

function filterConditions({ action, actor, person = null, since, until }: AuditFilter): {
  conditions: string
  parameters: Value[]
} {
  const parts: [string, Value | null][] = [
    ['action = ?', action],
    ['key_id = ?', actor === 'operator' ? null : actor],
    ['key_id in (select id from api_keys where person_id = ?)', person],
    ['at >= ?', since],
    ['at < ?', until],
  ]
  const active = parts.filter(([, value]) => value !== null)
  return {
    conditions: active.map(([sql]) => ` and ${sql}`).join('') + (actor === 'operator' ? ' and key_id is null' : ''),
    parameters: active.map(([, value]) => value),
  }
}

function toAuditEntry(row: Row): AuditEntry {
  const keyId = row.key_id as number | null
  return {
    id: row.id as number,
    seq: row.seq as number | null,
    hash: row.hash as string | null,
    at: row.at as number,
    actor: keyId === null ? null : { keyId, name: row.key_name as string, personId: row.person_id as number | null },
    action: row.action as AuditAction,
    subject: { id: row.subject_id as string, name: row.subject_name as string },
    details: row.details === null ? null : JSON.parse(row.details as string),
  }
}
