import type { HistoryStore, LiveSpans, TimelineFilter } from '../../domain/history/history.ts'
import { pageOffset } from '../../domain/page.ts'
import { type Database, type Row, requireRow, type Value } from './database.ts'
import { detailColumns, endOf, toDetails } from './history-rows.ts'
import { liveEntriesOf, liveSpans } from './live-spans.ts'

export function sqlTimeline(database: Database): HistoryStore['timeline'] {
  return async (prompt, filter, request, now) => {
    const { organisationId, id } = prompt
    const spans = liveSpans(liveEntriesOf(prompt), now)
    const { conditions, parameters } = filterConditions(filter)
    const matching = `history_entries where organisation_id = ? and prompt_id = ?${conditions}`
    const values = [organisationId, id, ...parameters]
    const [counts, rows] = await Promise.all([
      database.rows(`select count(*) as count from ${matching}`, values),
      database.rows(
        `select ${detailColumns}, orphaned_at, live_from, next_from, earlier_from, earlier_orphaned_at
         from (select * from ${matching} order by created_at desc, id desc limit ? offset ?) as page
         left join (${spans.sql}) as spans on id = span_id
         order by created_at desc, id desc`,
        [...values, request.limit, pageOffset(request), ...spans.parameters],
      ),
    ])
    return {
      entries: rows.map((row) => ({ entry: toDetails(row), live: toLiveSpans(row) })),
      totalCount: requireRow(counts).count as number,
    }
  }
}

function filterConditions({ actions, since, until }: TimelineFilter): { conditions: string; parameters: Value[] } {
  const parts: [string, Value[]][] = []
  if (actions !== null) parts.push([`action in (${actions.map(() => '?').join(', ')})`, actions])
  if (since !== null) parts.push(['created_at >= ?', [since]])
  if (until !== null) parts.push(['created_at < ?', [until]])
  return {
    conditions: parts.map(([sql]) => ` and ${sql}`).join(''),
    parameters: parts.flatMap(([, values]) => values),
  }
}

function toLiveSpans(row: Row): LiveSpans | null {
  const from = row.live_from as number | null
  if (from === null) return null
  const earlier = row.earlier_from as number | null
  const earlierUntil = endOf(row.earlier_orphaned_at, from) ?? from
  return {
    from,
    until: endOf(row.orphaned_at, row.next_from),
    earlier: earlier === null ? null : { from: earlier, until: Math.max(earlier, earlierUntil) },
  }
}
