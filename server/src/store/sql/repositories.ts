import { type Lease, type LeaseStore, LostLeaseError, maxFuture } from '../../domain/repositories/lease.ts'
import { type RepositoryStore, staleAfterMs } from '../../domain/repositories/repository.ts'
import { type Database, firstOrNull, isDueSql, requireRow, type Statement, statement, writeRows } from './database.ts'
import { sqlRepositoryChanges } from './repository-changes.ts'
import { repositoryColumns, toRepository } from './repository-rows.ts'

export function sqlRepositories(database: Database): RepositoryStore & LeaseStore {
  const find = async (where: string, value: string | number) =>
    firstOrNull(
      await database.rows(`select ${repositoryColumns} from repositories where ${where} = ?`, [value]),
      toRepository,
    )

  return {
    ...sqlRepositoryChanges(database),

    async hasAny() {
      return (await database.rows('select 1 from repositories limit 1')).length > 0
    },

    find: (id) => find('id', id),
    findByHook: (hookId) => find('hook_id', hookId),

    async list(organisationId) {
      const sql = `select ${repositoryColumns} from repositories where organisation_id = ? order by id`
      return (await database.rows(sql, [organisationId])).map(toRepository)
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

    async wakeAll(at, { slots, intervalMs }) {
      const start = 'cast(? as bigint) + (id % cast(? as bigint)) * cast(? as bigint)'
      const parameters = [at, slots, intervalMs]
      const sql = `update repositories set due_at = ${start} where disconnected_at is null and due_at > ${start}`
      await writeRows(database, sql, [...parameters, ...parameters])
    },

    async recordRejections({ id, organisationId }, { count, lastAt, reason }) {
      await writeRows(
        database,
        `update repositories set rejected_deliveries = rejected_deliveries + ?, last_rejected_at = ?, last_rejection = ?
         where organisation_id = ? and id = ?`,
        [count, lastAt, reason, organisationId, id],
      )
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
      const rows = await writeRows(
        database,
        `update repositories set lease_owner = ?, lease_until = ?
         where id = ? and ${isDueSql('lease_until')} and disconnected_at is null returning ${repositoryColumns}`,
        [owner, until, id, now, now + maxFuture.lease],
      )
      return firstOrNull(rows, (row) => ({ repository: toRepository(row), owner }))
    },

    async renew({ repository, owner }, until) {
      const rows = await writeRows(
        database,
        'update repositories set lease_until = ? where id = ? and lease_owner = ? returning id',
        [until, repository.id, owner],
      )
      return rows.length > 0
    },

    async release({ repository, owner }, { dueAt, error, syncedAt }) {
      await writeRows(
        database,
        `update repositories set lease_owner = null, lease_until = 0, last_error = ?,
           last_sync_at = coalesce(?, last_sync_at), due_at = case when wakes = ? then ? else due_at end
         where id = ? and lease_owner = ?`,
        [error, syncedAt, repository.wakes, dueAt, repository.id, owner],
      )
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

/**
 * Must be the first statement of a transaction that only the holder of the lease may run. Asks who holds it, not until when: a process
 * that was too busy to renew it in time continues if no other has taken it.
 */
export function requireLease({ repository, owner }: Lease): Statement {
  return {
    ...statement(
      `update repositories set lease_until = lease_until
       where organisation_id = ? and id = ? and lease_owner = ? and disconnected_at is null returning id`,
      [repository.organisationId, repository.id, owner],
    ),
    orThrow: () => new LostLeaseError(),
  }
}
