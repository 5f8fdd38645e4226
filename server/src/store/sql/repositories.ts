import { maxFuture } from '../../domain/repositories/due-time.ts'
import type { Lease, LeaseStore } from '../../domain/repositories/lease.ts'
import type { ForgeName, Repository, RepositoryStore } from '../../domain/repositories/repository.ts'
import { isoTime } from '../../domain/time.ts'
import { auditEntry } from './audit-chain.ts'
import { type Database, firstOrNull, isDueSql, type Row, requireRow, type Statement, statement } from './database.ts'

const columns = `id, organisation_id, forge, url, path, similarity, hook_id, sealed_token, sealed_secret, sealed_old_secret,
  old_secret_until, default_branch, tip, web_url, incomplete, last_sync_at, last_error, due_at, wakes,
  created_at, disconnected_at, (
    select d.received_at from deliveries d where d.organisation_id = repositories.organisation_id
      and d.repository_id = repositories.id order by d.id desc limit 1) as last_delivery_at`

export function sqlRepositories(database: Database): RepositoryStore & LeaseStore {
  const find = async (where: string, value: string | number) =>
    firstOrNull(await database.rows(`select ${columns} from repositories where ${where} = ?`, [value]), toRepository)

  return {
    async connect(repository, by, lease) {
      const { organisationId, forge, url, path, similarity, hookId, sealedToken, sealedSecret, createdAt } = repository
      const connected = (row: Row) => {
        const subject = { id: row.id as number, name: url }
        const details = { forge, path }
        return auditEntry({ organisationId, by, at: createdAt, action: 'repository.connected', subject, details })
      }
      const insert = statement(
        `insert into repositories
             (organisation_id, forge, url, path, similarity, hook_id, sealed_token, sealed_secret, due_at, created_at,
              lease_owner, lease_until)
           values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
           on conflict (organisation_id, url, path) do update set
             forge = excluded.forge, similarity = excluded.similarity, hook_id = excluded.hook_id,
             sealed_token = excluded.sealed_token, sealed_secret = excluded.sealed_secret, sealed_old_secret = null,
             old_secret_until = null, last_error = null, last_sync_at = null, due_at = excluded.due_at,
             lease_owner = excluded.lease_owner, lease_until = excluded.lease_until, disconnected_at = null
           where repositories.disconnected_at is not null
           returning ${columns}`,
        [
          organisationId,
          forge,
          url,
          path,
          similarity,
          hookId,
          sealedToken,
          sealedSecret,
          createdAt,
          createdAt,
          lease?.owner ?? null,
          lease?.until ?? 0,
        ],
      )
      const [rows = []] = await database.writeAndInvalidate([{ ...insert, andThen: (rows) => rows.map(connected) }])
      return firstOrNull(rows, toRepository)
    },

    find: (id) => find('id', id),
    findByHook: (hookId) => find('hook_id', hookId),

    async list(organisationId) {
      const sql = `select ${columns} from repositories where organisation_id = ? order by id`
      return (await database.rows(sql, [organisationId])).map(toRepository)
    },

    async disconnect({ id, organisationId, url }, at, by) {
      const subject = { id, name: url }
      const disconnected = auditEntry({ organisationId, by, at, action: 'repository.disconnected', subject })
      await database.writeAndInvalidate([
        {
          ...statement(
            `update repositories set disconnected_at = ?, sealed_token = null
             where organisation_id = ? and id = ? and disconnected_at is null returning id`,
            [at, organisationId, id],
          ),
          andThen: (rows) => rows.map(() => disconnected),
        },
      ])
    },

    async rotateSecret({ id, organisationId, url }, { sealed, oldUntil }, at, by) {
      const subject = { id, name: url }
      const details = { old_secret_until: isoTime(oldUntil) }
      const [rows] = await database.writeAndInvalidate([
        statement(
          `update repositories set sealed_old_secret = sealed_secret, old_secret_until = ?, sealed_secret = ?
           where organisation_id = ? and id = ? returning ${columns}`,
          [oldUntil, sealed, organisationId, id],
        ),
        auditEntry({ organisationId, by, at, action: 'repository.secret_rotated', subject, details }),
      ])
      return toRepository(requireRow(rows))
    },

    async wake({ id, organisationId }, at) {
      await database.write([wakeRepository(organisationId, id, at)])
    },

    async due(now) {
      const rows = await database.rows(
        `select r.id from repositories r
         where ${isDueSql('r.lease_until')} and r.disconnected_at is null and (${isDueSql('r.due_at')} or exists (
           select 1 from deliveries d where d.organisation_id = r.organisation_id and d.repository_id = r.id
             and d.state = 'pending' and (d.attempts = 0 or ${isDueSql('d.next_attempt_at')})))
         order by r.due_at limit 100`,
        [now, now + maxFuture.lease, now, now + maxFuture.sync, now, now + maxFuture.attempt],
      )
      return rows.map(({ id }) => id as number)
    },

    async lease(id, owner, now, until) {
      const [rows = []] = await database.write([
        statement(
          `update repositories set lease_owner = ?, lease_until = ?
           where id = ? and ${isDueSql('lease_until')} and disconnected_at is null returning ${columns}`,
          [owner, until, id, now, now + maxFuture.lease],
        ),
      ])
      return firstOrNull(rows, (row) => ({ repository: toRepository(row), owner }))
    },

    async renew({ repository, owner }, until) {
      const [rows = []] = await database.write([
        statement('update repositories set lease_until = ? where id = ? and lease_owner = ? returning id', [
          until,
          repository.id,
          owner,
        ]),
      ])
      return rows.length > 0
    },

    async release({ repository, owner }, { dueAt, error, syncedAt }) {
      await database.write([
        statement(
          `update repositories set lease_owner = null, lease_until = 0, last_error = ?,
             last_sync_at = coalesce(?, last_sync_at), due_at = case when wakes = ? then ? else due_at end
           where id = ? and lease_owner = ?`,
          [error, syncedAt, repository.wakes, dueAt, repository.id, owner],
        ),
      ])
    },
  }
}

function wakeRepository(organisationId: number, id: number, at: number): Statement {
  return statement('update repositories set due_at = ?, wakes = wakes + 1 where organisation_id = ? and id = ?', [
    at,
    organisationId,
    id,
  ])
}

/** Must be the first statement of a transaction that only the holder of the lease may run. */
export function requireLease({ repository, owner }: Lease): Statement {
  return {
    ...statement(
      `update repositories set lease_until = lease_until
       where organisation_id = ? and id = ? and lease_owner = ? and disconnected_at is null returning id`,
      [repository.organisationId, repository.id, owner],
    ),
    orThrow: () => new Error('Lost the lease: another process took over the repository'),
  }
}

function toRepository(row: Row): Repository {
  return {
    id: row.id as number,
    organisationId: row.organisation_id as number,
    forge: row.forge as ForgeName,
    url: row.url as string,
    path: row.path as string,
    similarity: row.similarity as number,
    hookId: row.hook_id as string,
    sealedToken: row.sealed_token as string | null,
    sealedSecret: row.sealed_secret as string,
    sealedOldSecret: row.sealed_old_secret as string | null,
    oldSecretUntil: row.old_secret_until as number | null,
    defaultBranch: row.default_branch as string | null,
    tip: row.tip as string | null,
    webUrl: row.web_url as string | null,
    incomplete: row.incomplete === 1,
    lastDeliveryAt: row.last_delivery_at as number | null,
    lastSyncAt: row.last_sync_at as number | null,
    lastError: row.last_error as string | null,
    dueAt: row.due_at as number,
    wakes: row.wakes as number,
    createdAt: row.created_at as number,
    disconnectedAt: row.disconnected_at as number | null,
  }
}
