import type { FactStore } from '../../domain/history/facts.ts'
import type { Push } from '../../domain/history/push.ts'
import type { Repository } from '../../domain/repositories/repository.ts'
import { type Database, type Statement, statement } from './database.ts'

export function sqlPushes(database: Database): Pick<FactStore, 'pushes'> {
  return {
    async pushes({ organisationId, id }, after) {
      if (after.length === 0) return []
      const sql = `select before_sha, after_sha, pusher, received_at from pushes
        where organisation_id = ? and repository_id = ? and ${database.inJsonArray('after_sha', 'text')}`
      const rows = await database.rows(sql, [organisationId, id, JSON.stringify(after)])
      return rows.map((row) => ({
        before: (row.before_sha as string) || null,
        after: row.after_sha as string,
        pusher: row.pusher as string | null,
        receivedAt: row.received_at as number,
      }))
    },
  }
}

export function insertPushes({ organisationId, id }: Repository, pushes: Push[]): Statement[] {
  return pushes.map(({ before, after, pusher, receivedAt }) =>
    statement(
      `insert into pushes (organisation_id, repository_id, after_sha, before_sha, pusher, received_at)
       values (?, ?, ?, ?, ?, ?) on conflict do nothing`,
      [organisationId, id, after, before ?? '', pusher, receivedAt],
    ),
  )
}
