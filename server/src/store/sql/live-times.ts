import type { Instant } from '../../domain/time.ts'
import type { Value } from './database.ts'
import { wentLive } from './history-rows.ts'

/** A query for entries with `id`, `prompt_id`, `seq`, `created_at` and `orphaned_at`, and its parameters. */
export interface EntrySource {
  sql: string
  parameters: Value[]
}

export function liveEntriesOf(
  { organisationId, id }: { organisationId: number; id: number },
  ...moreColumns: string[]
): EntrySource {
  const columns = ['id', 'prompt_id', 'seq', 'created_at', 'orphaned_at', ...moreColumns]
  return {
    sql: `select ${columns.join(', ')} from history_entries
      where organisation_id = ? and prompt_id = ? and ${wentLive}`,
    parameters: [organisationId, id],
  }
}

/**
 * When each change went live. Commit dates can go backwards along the default branch: a commit is made before it is pushed, and
 * clocks differ. But a change cannot go live before the one that it follows. So changes from git go live in the order of the
 * branch (`seq`), each at the latest date up to it. A date after `now` is wrong and counts as that of the change before.
 * Submitted changes have only their date.
 */
export function liveTimes(source: EntrySource, now: Instant): EntrySource {
  const date = 'case when orphaned_at < created_at then orphaned_at else created_at end'
  const latest = `max(case when created_at <= ? then ${date} end) over (partition by prompt_id, seq is null order by seq)`
  return {
    sql: `select id as live_id, coalesce(seq, 0) as live_order,
        case when seq is null then created_at else coalesce(${latest}, created_at) end as live_from
      from (${source.sql}) as entries`,
    parameters: [now, ...source.parameters],
  }
}

export const newestLiveFirst = 'live_from desc, live_order desc, live_id desc'
