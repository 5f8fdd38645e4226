import type { Repository } from '../../domain/repositories/repository.ts'
import type { TrialLabel } from '../../domain/trials/label.ts'
import type { TrialStore } from '../../domain/trials/trial.ts'
import { type Database, type Statement, statement } from './database.ts'
import { duePulls } from './due-pulls.ts'
import { fromMillionths, toMillionths } from './millionths.ts'

/**
 * Part of a transaction that processes a delivery. Forges report other labels, too, and may repeat a delivery: then nothing changes, so
 * that it does not matter who did that.
 */
export function upsertLabel(
  { organisationId, id }: Repository,
  { prNumber, share, head, actor, changedAt }: TrialLabel,
): Statement {
  const isKnown = 'select 1 from trial_labels where organisation_id = ? and repository_id = ? and pr_number = ?'
  return statement(
    `insert into trial_labels (organisation_id, repository_id, pr_number, share, head, actor, changed_at, due_at, attempts)
     select cast(? as bigint), cast(? as bigint), cast(? as bigint), cast(? as bigint), cast(? as text), cast(? as text),
       cast(? as bigint), cast(? as bigint), 0
     where cast(? as bigint) is not null or exists (${isKnown})
     on conflict (organisation_id, repository_id, pr_number) do update set share = excluded.share, head = excluded.head,
       actor = excluded.actor, changed_at = excluded.changed_at, due_at = excluded.due_at, attempts = 0
     where coalesce(trial_labels.share, -1) <> coalesce(excluded.share, -1) and trial_labels.changed_at <= excluded.changed_at`,
    [
      ...[organisationId, id, prNumber, millionths(share), head, actor, changedAt, 0],
      ...[millionths(share), organisationId, id, prNumber],
    ],
  )
}

function millionths(share: number | null): number | null {
  return share === null ? null : toMillionths(share)
}

export function sqlTrialLabels(database: Database): Pick<TrialStore, 'dueLabels' | 'finishLabel'> {
  return {
    async dueLabels(now, limit) {
      const rows = await duePulls(database, 'trial_labels', now, limit)
      return rows.map((row) => ({
        organisationId: row.organisation_id as number,
        repositoryId: row.repository_id as number,
        prNumber: row.pr_number as number,
        share: row.share === null ? null : fromMillionths(row.share as number),
        head: row.head as string,
        actor: row.actor as string,
        changedAt: row.changed_at as number,
        trialId: row.trial_id as string | null,
        attempts: row.attempts as number,
      }))
    },

    async finishLabel({ organisationId, repositoryId, prNumber, changedAt, share }, trialId, dueAt) {
      const key = 'organisation_id = ? and repository_id = ? and pr_number = ?'
      await database.write([
        // It may have changed meanwhile: then it stays due, but remembers its trial.
        statement(`update trial_labels set trial_id = ? where ${key}`, [
          trialId,
          organisationId,
          repositoryId,
          prNumber,
        ]),
        statement(
          `update trial_labels set due_at = ?, attempts = attempts + 1 where ${key} and changed_at = ? and coalesce(share, -1) = ?`,
          [dueAt, organisationId, repositoryId, prNumber, changedAt, millionths(share) ?? -1],
        ),
      ])
    },
  }
}
