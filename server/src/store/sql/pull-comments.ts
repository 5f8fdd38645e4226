import type { PullCommentStore } from '../../domain/alerts/pull-comment.ts'
import { maxFuture } from '../../domain/repositories/lease.ts'
import { type Database, firstOrNull, isDueSql, writeRows } from './database.ts'
import { columns, toRegression } from './regressions.ts'

export function sqlPullComments(database: Database): PullCommentStore {
  return {
    async claim({ id, organisationId }, subject, now, until) {
      const rows = await writeRows(
        database,
        `insert into pull_comments (organisation_id, repository_id, subject, claimed_until) values (?, ?, ?, ?)
         on conflict (organisation_id, repository_id, subject) do update set claimed_until = excluded.claimed_until
           where ${isDueSql('pull_comments.claimed_until')} returning comment_id, message_at`,
        [organisationId, id, subject, until, now, now + maxFuture.lease],
      )
      return firstOrNull(rows, (row) => ({
        commentId: row.comment_id as string | null,
        messageAt: row.message_at as number | null,
      }))
    },

    async release({ id, organisationId }, subject, { commentId, messageAt }, claimedUntil) {
      await writeRows(
        database,
        `update pull_comments set comment_id = ?, message_at = ?, claimed_until = 0
         where organisation_id = ? and repository_id = ? and subject = ? and claimed_until = ?`,
        [commentId, messageAt, organisationId, id, subject, claimedUntil],
      )
    },

    async states(organisationId, regressionIds) {
      const sql = `select ${columns} from regressions where ${database.haveIds()}`
      const rows = await database.rows(sql, [organisationId, JSON.stringify(regressionIds)])
      return new Map(rows.map(toRegression).map(({ id, state }) => [id, state]))
    },

    async recordError({ id, organisationId }, error) {
      await writeRows(database, 'update repositories set report_error = ? where organisation_id = ? and id = ?', [
        error,
        organisationId,
        id,
      ])
    },
  }
}
