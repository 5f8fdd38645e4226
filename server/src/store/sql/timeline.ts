import type { HistoryStore, LiveSpans, TimelineFilter } from '../../domain/history/history.ts'
import { pageOffset } from '../../domain/page.ts'
import { type Database, type Row, requireRow, type Value } from './database.ts'
import { detailColumns, endOf, toDetails, wentLive } from './history-rows.ts'

// The next or previous entry that went live, looked up by the partial index on such entries.
function neighbour(column: string, direction: 'before' | 'after'): string {
  const [sign, order] = direction === 'before' ? ['<', 'desc'] : ['>', 'asc']
  return `(select n.${column} from history_entries as n
    where n.organisation_id = h.organisation_id and n.prompt_id = h.prompt_id and n.${wentLive}
      and (n.created_at, n.id) ${sign} (h.created_at, h.id)
    order by n.created_at ${order}, n.id ${order} limit 1)`
}

export function sqlTimeline(database: Database): HistoryStore['timeline'] {
  const neighbours = `${neighbour('created_at', 'after')} as next_at, ${neighbour('created_at', 'before')} as earlier_at,
    ${neighbour('orphaned_at', 'before')} as earlier_orphaned_at`

  return async ({ organisationId, id }, filter, request) => {
    const { conditions, parameters } = filterConditions(filter)
    const matching = `history_entries as h where organisation_id = ? and prompt_id = ?${conditions}`
    const values = [organisationId, id, ...parameters]
    const [counts, rows] = await Promise.all([
      database.rows(`select count(*) as count from ${matching}`, values),
      database.rows(
        `select ${detailColumns}, orphaned_at, ${neighbours} from ${matching}
         order by created_at desc, id desc limit ? offset ?`,
        [...values, request.limit, pageOffset(request)],
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
  if (row.action !== 'deployed' && row.action !== 'pr_merged') return null
  const from = row.earlier_at as number | null
  const created = row.created_at as number
  return {
    until: endOf(row.orphaned_at, row.next_at),
    earlier: from === null ? null : { from, until: Math.max(from, endOf(row.earlier_orphaned_at, created) ?? created) },
  }
}
