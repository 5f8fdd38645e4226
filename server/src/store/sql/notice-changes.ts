import type { NoticeKind } from '../../domain/alerts/notice.ts'
import type { Instant } from '../../domain/time.ts'
import { requireRow, type Statement, statement, type Value } from './database.ts'

// Entries that were submitted belong to no repository. Their URL tells the pull request, also where a repository has it. It can be
// longer than an index allows.
const pullOwner = `coalesce(p.hook_id, (
  select q.hook_id from repositories q
  join history_entries o on o.organisation_id = q.organisation_id and o.repository_id = q.id and o.pr_number = h.pr_number
  where q.organisation_id = r.organisation_id and o.pr_url = h.pr_url
  limit 1), substr(h.pr_url, 1, 600))`

/** Part of a transaction that opens a regression: the notice about its change is open, and includes it. */
export function openNotice(organisationId: number, regressionId: number, at: Instant): Statement {
  return {
    ...statement(
      // All prompts of a pull request share one notice. Subjects hold no IDs of this database, which an import changes.
      `insert into notices (organisation_id, kind, subject, state, opened_at, due_at)
       select r.organisation_id, 'regression', coalesce('pull/' || ${pullOwner} || '/' || h.pr_number, 'commit/' || r.commit_sha),
         'open', ?, ?
       from regressions r
       left join history_entries h on h.organisation_id = r.organisation_id and h.id = r.entry_id
       left join repositories p on p.organisation_id = r.organisation_id and p.id = h.repository_id
       where r.organisation_id = ? and r.id = ?
       on conflict (organisation_id, kind, subject) do update set ${reopened}
       returning id`,
      [at, at, organisationId, regressionId],
    ),
    andThen: (rows) => [
      statement(
        `insert into notice_regressions (organisation_id, notice_id, regression_id) values (?, ?, ?)
         on conflict (organisation_id, notice_id, regression_id) do nothing`,
        [organisationId, requireRow(rows).id as number, regressionId],
      ),
    ],
  }
}

/** Opens a notice about anything but a regression. One that is open stays as it is. */
export function openNoticeOf(organisationId: number, kind: NoticeKind, subject: string, at: Instant): Statement {
  return statement(
    `insert into notices (organisation_id, kind, subject, state, opened_at, due_at) values (?, ?, ?, 'open', ?, ?)
     on conflict (organisation_id, kind, subject) do update set ${reopened} where notices.state <> 'open'`,
    [organisationId, kind, subject, at, at],
  )
}

/** Part of a transaction that ends what notices with subjects of this prefix are about, such as a trial. */
export function endNoticesOf(organisationId: number, kind: NoticeKind, prefix: string, at: Instant): Statement {
  return statement(
    `update notices set state = 'ended', ended_at = ?, due_at = ?, changes = changes + 1
     where organisation_id = ? and kind = ? and subject like ? and state = 'open'`,
    [at, at, organisationId, kind, `${prefix}/%`],
  )
}

export const reopened = `round = notices.round + (case when notices.state = 'open' then 0 else 1 end),
  opened_at = case when notices.state = 'open' then notices.opened_at else excluded.opened_at end,
  state = 'open', ended_at = null, due_at = excluded.due_at, changes = notices.changes + 1`

/** Part of a transaction that closes a regression: the notice ends with the last open one. */
export function endNotice(organisationId: number, regressionId: number, at: Instant): Statement {
  const hasOpen = `exists (select 1 from notice_regressions n
    join regressions r on r.organisation_id = n.organisation_id and r.id = n.regression_id
    where n.organisation_id = notices.organisation_id and n.notice_id = notices.id and r.state = 'open')`
  return statement(
    `update notices set state = case when ${hasOpen} then 'open' else 'ended' end,
       ended_at = case when ${hasOpen} then null else cast(? as bigint) end, due_at = ?, changes = changes + 1
     where organisation_id = ? and id in ${ofRegression}`,
    [at, at, organisationId, organisationId, regressionId],
  )
}

/** Part of a transaction that updates the figures of a regression: if it was too uncertain to be told, it may be certain now. */
export function decideNoticeAgain(organisationId: number, regressionId: number): Statement {
  return decideAgain(organisationId, 0, `due_at is not null and id in ${ofRegression}`, [organisationId, regressionId])
}

/** Part of a transaction in which a person takes care of a regression: whether to repeat messages about it is decided again. */
export function repeatAgain(organisationId: number, regressionId: number, at: Instant): Statement {
  return decideAgain(organisationId, at, `state = 'open' and id in ${ofRegression}`, [organisationId, regressionId])
}

/** Part of a transaction that changes an alert: with its new rules, it may have to be notified of open regressions. */
export function decideOpenNotices(organisationId: number, at: Instant): Statement {
  return decideAgain(organisationId, at, `state = 'open'`)
}

/** Part of a transaction that deletes a prompt: what was said about its regressions is checked again. */
export function checkNotices(organisationId: number, promptId: number, at: Instant): Statement {
  const ofPrompt = `(select n.notice_id from notice_regressions n
    join regressions r on r.organisation_id = n.organisation_id and r.id = n.regression_id
    where r.organisation_id = ? and r.prompt_id = ?)`
  return decideAgain(organisationId, at, `id in ${ofPrompt}`, [organisationId, promptId])
}

const ofRegression = '(select notice_id from notice_regressions where organisation_id = ? and regression_id = ?)'

/** Has the notifier decide again about the notices that meet the condition. */
export function decideAgain(
  organisationId: number,
  dueAt: Instant,
  condition: string,
  parameters: Value[] = [],
): Statement {
  return statement(`update notices set due_at = ?, changes = changes + 1 where organisation_id = ? and ${condition}`, [
    dueAt,
    organisationId,
    ...parameters,
  ])
}
