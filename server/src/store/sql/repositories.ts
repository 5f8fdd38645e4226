import { operator } from '../../domain/access/audit.ts'
import { maxFuture } from '../../domain/repositories/due-time.ts'
import type { Lease, LeaseStore } from '../../domain/repositories/lease.ts'
import {
  type ForgeName,
  type Repository,
  type RepositoryStore,
  staleAfterMs,
} from '../../domain/repositories/repository.ts'
import { tooManyRepositories } from '../../domain/repositories/repository-service.ts'
import { isoTime } from '../../domain/time.ts'
import { auditEntry } from './audit.ts'
import { type Database, firstOrNull, isDueSql, type Row, requireRow, type Statement, statement } from './database.ts'

const columns = `id, organisation_id, forge, url, path, similarity, hook_id, sealed_token, sealed_ssh_key, ssh_public_key,
  ssh_host_key, connected_by_operator, sealed_secret, sealed_old_secret,
  old_secret_until, default_branch, tip, web_url, incomplete, last_sync_at, last_error, due_at, wakes,
  created_at, disconnected_at, (
    select d.received_at from deliveries d where d.organisation_id = repositories.organisation_id
      and d.repository_id = repositories.id order by d.id desc limit 1) as last_delivery_at`

export function sqlRepositories(database: Database): RepositoryStore & LeaseStore {
  const find = async (where: string, value: string | number) =>
    firstOrNull(await database.rows(`select ${columns} from repositories where ${where} = ?`, [value]), toRepository)

  return {
    async connect(repository, by, lease, maxRepositories = Number.MAX_SAFE_INTEGER) {
      const { organisationId, forge, url, path, similarity, hookId, sealedToken, sealedSecret, createdAt } = repository
      const { sealedSshKey = null, sshPublicKey = null, sshHostKey = null } = repository
      const connected = (row: Row) => {
        const subject = { id: row.id as number, name: url }
        const details = { forge, path }
        return auditEntry({ organisationId, by, at: createdAt, action: 'repository.connected', subject, details })
      }
      const insert = statement(
        `insert into repositories
             (organisation_id, forge, url, path, similarity, hook_id, sealed_token, sealed_ssh_key, ssh_public_key,
              ssh_host_key, connected_by_operator, sealed_secret, due_at, created_at, lease_owner, lease_until)
           values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
           on conflict (organisation_id, url, path) do update set
             forge = excluded.forge, similarity = excluded.similarity, hook_id = excluded.hook_id,
             sealed_token = excluded.sealed_token, sealed_ssh_key = excluded.sealed_ssh_key,
             ssh_public_key = excluded.ssh_public_key, ssh_host_key = excluded.ssh_host_key,
             connected_by_operator = excluded.connected_by_operator, sealed_secret = excluded.sealed_secret, sealed_old_secret = null,
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
          sealedSshKey,
          sshPublicKey,
          sshHostKey,
          by === operator ? 1 : 0,
          sealedSecret,
          createdAt,
          createdAt,
          lease?.owner ?? null,
          lease?.until ?? 0,
        ],
      )
      const [, , rows = []] = await database.writeAndInvalidate([
        ...requireRoom(organisationId, maxRepositories),
        { ...insert, andThen: (rows) => rows.map(connected) },
      ])
      return firstOrNull(rows, toRepository)
    },

    async hasAny() {
      return (await database.rows('select 1 from repositories limit 1')).length > 0
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
            `update repositories set disconnected_at = ?, sealed_token = null, sealed_ssh_key = null
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

    async staleness(now) {
      const sql = `select min(coalesce(last_sync_at, created_at)) as oldest,
          count(case when coalesce(last_sync_at, created_at) < ? then 1 end) as stale
        from repositories where disconnected_at is null`
      const { stale, oldest } = requireRow(await database.rows(sql, [now - staleAfterMs]))
      return { stale: stale as number, oldestSyncAt: oldest as number | null }
    },

    async wake({ id, organisationId }, at) {
      await database.write([wakeRepository(organisationId, id, at)])
    },

    async due(now) {
      // Ordered by turn: sorted by age alone, the backlog of one organisation would fill the result and hide all others.
      const rows = await database.rows(
        `select id, organisation_id from (
           select r.id, r.organisation_id, r.due_at,
             row_number() over (partition by r.organisation_id order by r.due_at, r.id) as turn
           from repositories r
           where ${isDueSql('r.lease_until')} and r.disconnected_at is null and (${isDueSql('r.due_at')} or exists (
             select 1 from deliveries d where d.organisation_id = r.organisation_id and d.repository_id = r.id
               and d.state = 'pending' and (d.attempts = 0 or ${isDueSql('d.next_attempt_at')})))) as due
         order by turn, due_at limit 100`,
        [now, now + maxFuture.lease, now, now + maxFuture.sync, now, now + maxFuture.attempt],
      )
      return rows.map((row) => ({ id: row.id as number, organisationId: row.organisation_id as number }))
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

function requireRoom(organisationId: number, maxRepositories: number): Statement[] {
  return [
    // Locks the organisation, so that concurrent connects cannot exceed the limit together.
    statement('update organisations set name = name where id = ?', [organisationId]),
    {
      ...statement(
        `select 1 as room where ? > (
           select count(*) from repositories where organisation_id = ? and disconnected_at is null)`,
        [maxRepositories, organisationId],
      ),
      orThrow: () => tooManyRepositories(maxRepositories),
    },
  ]
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
    sealedSshKey: row.sealed_ssh_key as string | null,
    sshPublicKey: row.ssh_public_key as string | null,
    sshHostKey: row.ssh_host_key as string | null,
    connectedByOperator: row.connected_by_operator === 1,
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
