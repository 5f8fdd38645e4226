import type { ListedSession, SessionStore } from '../../domain/access/session.ts'
import { auditEntry } from './audit-chain.ts'
import { type Database, firstOrNull, type Row, statement } from './database.ts'
import { toAccess } from './keys.ts'

const endsAt = 'case when k.expires_at < s.expires_at then k.expires_at else s.expires_at end as expires_at'
// The first half of the hash names a session where its secret must not: neither can be found from it.
const sessionId = 'substr(s.token_hash, 1, 32)'

export function sqlSessions(database: Database): SessionStore {
  return {
    async create({ tokenHash, organisationId, keyId, client, createdAt, expiresAt }) {
      // No cache needs clearing: misses are not cached, and expired sessions grant nothing.
      await database.write([
        statement('delete from sessions where expires_at <= ?', [createdAt]),
        statement(
          `insert into sessions (token_hash, organisation_id, key_id, client, created_at, expires_at)
           values (?, ?, ?, ?, ?, ?)`,
          [tokenHash, organisationId, keyId, client, createdAt, expiresAt],
        ),
      ])
    },

    async findAccess(tokenHash) {
      const sql = `select k.id as key_id, k.role, k.prompts, k.revoked_at, o.id as organisation_id, o.plan, ${endsAt}
        from sessions s join api_keys k on k.id = s.key_id join organisations o on o.id = k.organisation_id
        where s.token_hash = ?`
      return firstOrNull(await database.rows(sql, [tokenHash]), toAccess)
    },

    async end(tokenHash) {
      await database.writeAndInvalidate([statement('delete from sessions where token_hash = ?', [tokenHash])])
    },

    async list(organisationId, keyId, now) {
      const ofKey = keyId === null ? '' : 'and s.key_id = ?'
      const rows = await database.rows(
        `select ${sessionId} as id, s.key_id, k.name as key_name, k.person_id, s.client, s.created_at, ${endsAt}
         from sessions s join api_keys k on k.id = s.key_id
         where s.organisation_id = ? and s.expires_at > ? and (k.expires_at is null or k.expires_at > ?)
           and k.revoked_at is null ${ofKey} order by s.created_at desc, s.token_hash`,
        [organisationId, now, now, ...(keyId === null ? [] : [keyId])],
      )
      return rows.map(toListedSession)
    },

    async endById(organisationId, keyId, id, at, by) {
      const ofKey = keyId === null ? '' : 'and s.key_id = ?'
      const [session] = await database.rows(
        `select s.token_hash, s.key_id, k.name from sessions s join api_keys k on k.id = s.key_id
         where s.organisation_id = ? and ${sessionId} = ? ${ofKey}`,
        [organisationId, id, ...(keyId === null ? [] : [keyId])],
      )
      if (session === undefined) return false
      const subject = { id: session.key_id as number, name: session.name as string }
      const ended = () => auditEntry({ organisationId, by, at, action: 'session.ended', subject })
      await database.writeAndInvalidate([
        {
          ...statement('delete from sessions where token_hash = ? returning 1 as ended', [
            session.token_hash as string,
          ]),
          andThen: (rows) => rows.map(ended),
        },
      ])
      return true
    },
  }
}

function toListedSession(row: Row): ListedSession {
  return {
    id: row.id as string,
    keyId: row.key_id as number,
    keyName: row.key_name as string,
    personId: row.person_id as number | null,
    client: row.client as string | null,
    createdAt: row.created_at as number,
    expiresAt: row.expires_at as number,
  }
}
