import {
  type Access,
  type ApiKey,
  inactiveKey,
  isWithin,
  type KeyStore,
  type NewApiKey,
  type Role,
  type SigningAccess,
} from '../../domain/access/api-key.ts'
import { keyRoles } from '../../domain/access/person.ts'
import type { Plan } from '../../domain/access/plan.ts'
import { DomainError } from '../../domain/errors.ts'
import { auditEntry } from './audit-chain.ts'
import { type Database, firstOrNull, type Row, requireRow, type Statement, statement } from './database.ts'
import { lockOrganisation } from './organisations.ts'
import { pageRows } from './page-rows.ts'

const columns =
  'id, organisation_id, person_id, name, role, prompts, hint, created_at, expires_at, revoked_at, last_used_at'

export function sqlKeys(database: Database): KeyStore {
  return {
    async create(key, by) {
      const created = (row: Row) => {
        const { organisationId, role, prompts, createdAt: at, ...subject } = toApiKey(row)
        const details = { role, ...(prompts !== null && { prompts }) }
        return auditEntry({ organisationId, by, at, action: 'key.created', subject, details })
      }
      const allowed = requireAllowed(database, key)
      const results = await database.writeAndInvalidate([
        ...allowed,
        { ...insertKey(key), andThen: (rows) => rows.map(created) },
      ])
      return toApiKey(requireRow(results[allowed.length]))
    },

    async find(id) {
      return firstOrNull(await database.rows(`select ${columns} from api_keys where id = ?`, [id]), toApiKey)
    },

    async page(organisationId, personId, request) {
      const { rows, totalCount } = await pageRows(database, listedKeys(organisationId, personId), request)
      return { keys: rows.map(toApiKey), totalCount }
    },

    async list(organisationId, personId = null) {
      const { from, parameters, order } = listedKeys(organisationId, personId)
      return (await database.rows(`select ${columns} from ${from} order by ${order}`, parameters)).map(toApiKey)
    },

    async revoke(id, at, by) {
      const revoked = (row: Row) => {
        const { organisationId, ...subject } = toApiKey(row)
        return auditEntry({ organisationId, by, at, action: 'key.revoked', subject })
      }
      const [, rows = []] = await database.writeAndInvalidate([
        {
          ...statement(`update api_keys set revoked_at = ? where id = ? and revoked_at is null returning ${columns}`, [
            at,
            id,
          ]),
          andThen: (rows) => rows.map(revoked),
        },
        statement(`select ${columns} from api_keys where id = ?`, [id]),
      ])
      return firstOrNull(rows, toApiKey)
    },

    async rotate(id, replacement, oldExpiresAt, by) {
      const expireOld: Statement = {
        ...statement(
          `update api_keys set expires_at = case when expires_at < ? then expires_at else ? end
           where id = ? and revoked_at is null and (expires_at is null or expires_at > ?) returning id`,
          [oldExpiresAt, oldExpiresAt, id, replacement.createdAt],
        ),
        orThrow: () => inactiveKey(id),
      }
      const rotated = (row: Row) => {
        const { organisationId, id: newKeyId, name, createdAt: at } = toApiKey(row)
        const details = { new_key_id: newKeyId }
        return auditEntry({ organisationId, by, at, action: 'key.rotated', subject: { id, name }, details })
      }
      const before = [...requireAllowed(database, replacement), expireOld]
      const results = await database.writeAndInvalidate([
        ...before,
        { ...insertKey(replacement), andThen: (rows) => rows.map(rotated) },
      ])
      return toApiKey(requireRow(results[before.length]))
    },

    async findAccess(keyHash) {
      const sql = `select k.id as key_id, k.role, k.prompts, k.expires_at, k.revoked_at, o.id as organisation_id, o.plan
        from api_keys k join organisations o on o.id = k.organisation_id where k.hash = ?`
      return firstOrNull(await database.rows(sql, [keyHash]), toAccess)
    },

    async findSigning(signingId) {
      const sql = `select k.id as key_id, k.role, k.prompts, k.expires_at, k.revoked_at, k.signing_id, k.sealed_secret,
        o.id as organisation_id, o.plan
        from api_keys k join organisations o on o.id = k.organisation_id where k.signing_id = ?`
      return firstOrNull(await database.rows(sql, [signingId]), toSigningAccess)
    },

    async recordUses(uses) {
      const sql = 'update api_keys set last_used_at = ? where id = ? and (last_used_at is null or last_used_at < ?)'
      // A fixed order prevents deadlocks between processes that update the same keys.
      const ordered = uses.toSorted((a, b) => a.keyId - b.keyId)
      await database.write(ordered.map(({ keyId, usedAt }) => statement(sql, [usedAt, keyId, usedAt])))
    },
  }
}

function listedKeys(organisationId: number, personId: number | null) {
  const ofPerson = personId === null ? '' : 'and person_id = ?'
  return {
    columns,
    from: `api_keys where organisation_id = ? and hint <> '' ${ofPerson}`,
    parameters: personId === null ? [organisationId] : [organisationId, personId],
    order: 'id',
  }
}

/**
 * A key of a person may do no more than they may. Checked with the insert, because their role may be lowered between the request and
 * this: `setRole`, `disable` and `delete` of people take the same lock.
 */
function requireAllowed(database: Database, { organisationId, personId, role }: NewApiKey): Statement[] {
  if (personId === null) return []
  const owners = Object.values(keyRoles).filter((owner) => isWithin(role, owner))
  const isAllowed = statement(
    `select 1 as allowed from people p join api_keys k on k.id = p.key_id
     where p.organisation_id = ? and p.id = ? and k.revoked_at is null and k.role in ${database.jsonElements('text')}`,
    [organisationId, personId, JSON.stringify(owners)],
  )
  const orThrow = () => new DomainError('forbidden', `The person may not have a key with the role ${role}.`)
  return [lockOrganisation(organisationId), { ...isAllowed, orThrow }]
}

export function insertKey(key: NewApiKey) {
  return statement(
    `insert into api_keys (organisation_id, person_id, name, role, prompts, hash, hint, created_at, expires_at, signing_id,
       sealed_secret) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) returning ${columns}`,
    [
      key.organisationId,
      key.personId,
      key.name,
      key.role,
      key.prompts,
      key.hash,
      key.hint,
      key.createdAt,
      key.expiresAt,
      key.signing?.id ?? null,
      key.signing?.sealed ?? null,
    ],
  )
}

function toApiKey(row: Row): ApiKey {
  return {
    id: row.id as number,
    organisationId: row.organisation_id as number,
    personId: row.person_id as number | null,
    name: row.name as string,
    role: row.role as Role,
    prompts: row.prompts as string | null,
    hint: row.hint as string,
    createdAt: row.created_at as number,
    expiresAt: row.expires_at as number | null,
    revokedAt: row.revoked_at as number | null,
    lastUsedAt: row.last_used_at as number | null,
  }
}

function toSigningAccess(row: Row): SigningAccess {
  return { ...toAccess(row), signing: { id: row.signing_id as string, sealed: row.sealed_secret as string } }
}

export function toAccess(row: Row): Access {
  return {
    keyId: row.key_id as number,
    role: row.role as Role,
    prompts: row.prompts as string | null,
    expiresAt: row.expires_at as number | null,
    revokedAt: row.revoked_at as number | null,
    organisationId: row.organisation_id as number,
    plan: row.plan as Plan,
  }
}
