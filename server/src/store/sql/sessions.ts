import type { SessionStore } from '../../domain/access/session.ts'
import { type Database, firstOrNull, statement } from './database.ts'
import { toAccess } from './keys.ts'

export function sqlSessions(database: Database): SessionStore {
  return {
    async create({ tokenHash, organisationId, keyId, createdAt, expiresAt }) {
      // No cache needs clearing: misses are not cached, and expired sessions grant nothing.
      await database.write([
        statement('delete from sessions where expires_at <= ?', [createdAt]),
        statement(
          'insert into sessions (token_hash, organisation_id, key_id, created_at, expires_at) values (?, ?, ?, ?, ?)',
          [tokenHash, organisationId, keyId, createdAt, expiresAt],
        ),
      ])
    },

    async findAccess(tokenHash) {
      const sql = `select k.id as key_id, k.role, k.prompts, k.revoked_at, o.id as organisation_id, o.plan,
          case when k.expires_at < s.expires_at then k.expires_at else s.expires_at end as expires_at
        from sessions s join api_keys k on k.id = s.key_id join organisations o on o.id = k.organisation_id
        where s.token_hash = ?`
      return firstOrNull(await database.rows(sql, [tokenHash]), toAccess)
    },

    async end(tokenHash) {
      await database.writeAndInvalidate([statement('delete from sessions where token_hash = ?', [tokenHash])])
    },
  }
}
