import { type BriefingStore, briefedHead, type DueBriefing } from '../../domain/briefings/briefing.ts'
import type { Pull } from '../../domain/history/pull.ts'
import type { Repository } from '../../domain/repositories/repository.ts'
import { minute } from '../../domain/time.ts'
import { type Database, type Statement, statement, writeRows } from './database.ts'
import { duePulls } from './due-pulls.ts'

// Someone who pushes every few seconds causes no more.
const minIntervalMs = 10 * minute

const key = 'organisation_id = ? and repository_id = ? and pr_number = ?'

/**
 * Part of the transaction that stores a pull request. A new head is due at once, or some time after the last comment. One that no longer changes
 * prompts is due only if there is a comment to correct.
 */
export function upsertBriefing({ organisationId, id }: Repository, pull: Pull): Statement[] {
  const { head, changesPrompts } = briefedHead(pull)
  const pullKey = [organisationId, id, pull.number]
  if (head === null) return [statement(`update briefings set due_at = null where ${key}`, pullKey)]
  return [
    statement(
      `insert into briefings (organisation_id, repository_id, pr_number, head, due_at, attempts)
       select cast(? as bigint), cast(? as bigint), cast(? as bigint), cast(? as text), 0, 0
       where cast(? as bigint) = 1 or exists (select 1 from briefings where ${key})
       on conflict (organisation_id, repository_id, pr_number) do update set head = excluded.head, attempts = 0,
         due_at = coalesce(briefings.briefed_at + ${minIntervalMs}, 0)
       where briefings.head <> excluded.head or (briefings.due_at is null and briefings.briefed_at is null)`,
      [...pullKey, head, Number(changesPrompts), ...pullKey],
    ),
  ]
}

export function sqlBriefings(database: Database): BriefingStore {
  return {
    async due(now, limit) {
      const rows = await duePulls(database, 'briefings', now, limit)
      return rows.map((row) => ({
        organisationId: row.organisation_id as number,
        repositoryId: row.repository_id as number,
        prNumber: row.pr_number as number,
        head: row.head as string,
        dueAt: row.due_at as number,
        attempts: row.attempts as number,
      }))
    },

    async claim(briefing, now, until) {
      const rows = await writeRows(
        database,
        `update briefings set due_at = ?, briefed_at = ?, attempts = attempts + 1
         where ${key} and head = ? and due_at = ? returning pr_number`,
        [until, now, ...keyOf(briefing), briefing.head, briefing.dueAt],
      )
      return rows.length > 0
    },

    async finish(briefing, dueAt) {
      await writeRows(database, `update briefings set due_at = ? where ${key} and head = ?`, [
        dueAt,
        ...keyOf(briefing),
        briefing.head,
      ])
    },
  }
}

function keyOf({ organisationId, repositoryId, prNumber }: DueBriefing): number[] {
  return [organisationId, repositoryId, prNumber]
}
