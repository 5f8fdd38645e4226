import type { HistoryStore, TimelineFilter } from '../../domain/history/history.ts'
import { pageOffset } from '../../domain/page.ts'
import { type Database, requireRow, type Value } from './database.ts'
import { detailColumns, toDetails } from './history-rows.ts'

export function sqlTimeline(database: Database): HistoryStore['timeline'] {
  return async ({ organisationId, id }, filter, request) => {
    const { conditions, parameters } = filterConditions(filter)
    const matching = `history_entries where organisation_id = ? and prompt_id = ?${conditions}`
    const values = [organisationId, id, ...parameters]
    const [counts, rows] = await Promise.all([
      database.rows(`select count(*) as count from ${matching}`, values),
      database.rows(`select ${detailColumns} from ${matching} order by created_at desc, id desc limit ? offset ?`, [
        ...values,
        request.limit,
        pageOffset(request),
      ]),
    ])
    return { entries: rows.map(toDetails), totalCount: requireRow(counts).count as number }
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
