import { type ListedSession, maxSessionsOfKey, type SessionStore } from '../../domain/access/session.ts'
import { auditEntry } from './audit-chain.ts'
import { type Database, firstOrNull, type Row, statement } from './database.ts'
import { toAccess } from './keys.ts'
import { pageRows } from './page-rows.ts'

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
      await endOldest(database, keyId)
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

    async page(organisationId, keyId, now, request) {
      const ofKey = keyId === null ? '' : 'and s.key_id = ?'
      const from = `sessions s join api_keys k on k.id = s.key_id
        where s.organisation_id = ? and s.expires_at > ? and (k.expires_at is null or k.expires_at > ?)
          and k.revoked_at is null ${ofKey}`
      const columns = `${sessionId} as id, s.key_id, k.name as key_name, k.person_id, s.client, s.created_at, ${endsAt}`
      const parameters = [organisationId, now, now, ...(keyId === null ? [] : [keyId])]
      const listed = { columns, from, parameters, order: 's.created_at desc, s.token_hash' }
      const { rows, totalCount } = await pageRows(database, listed, request)
      return { sessions: rows.map(toListedSession), totalCount }
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

// At once, because ending one clears the caches.
const endedAtOnce = 100

async function endOldest(database: Database, keyId: number): Promise<void> {
  const ofKey = 'select token_hash from sessions where key_id = ? order by created_at desc, token_hash'
  const [excess] = await database.rows(`${ofKey} limit 1 offset ${maxSessionsOfKey}`, [keyId])
  if (excess === undefined) return
  const kept = maxSessionsOfKey - endedAtOnce
  await database.writeAndInvalidate([
    statement(`delete from sessions where token_hash in (${ofKey} limit ${maxSessionsOfKey} offset ${kept})`, [keyId]),
  ])
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
