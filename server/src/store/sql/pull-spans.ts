import type { Action } from '../../domain/history/entry.ts'
import { type HistoryStore, type PullStep, pullKey } from '../../domain/history/history.ts'
import type { Database, TypedColumn, Value } from './database.ts'

const pullColumns: TypedColumn[] = [
  { name: 'place', type: 'bigint' },
  { name: 'number', type: 'bigint' },
  { name: 'url', type: 'text' },
]

// One text that sorts like the time and then the ID, because an aggregate takes one value. All numbers have 16 digits then.
const offset = 1_000_000_000_000_000
const digits = 16
const step = `cast(created_at + ${offset} as text) || cast(id + ${offset} as text) || action`

export function sqlPullSpans(database: Database): HistoryStore['pullSpans'] {
  return async ({ organisationId, id }, entries, knownUntil) => {
    const pulls = new Map<string, { place: number; number: number | null; url: string }>()
    for (const entry of entries) {
      const { prNumber: number, prUrl: url } = entry
      const key = pullKey(entry)
      if (url !== null && !pulls.has(key)) pulls.set(key, { place: pulls.size, number, url })
    }
    if (pulls.size === 0) return entries.map(() => null)
    // The first opening and the last outcome of each. Grouped by a small number: sorting by URLs of 2,000 characters takes SQLite
    // seconds if many entries share one. The casts let it look up pull requests by an index, and the cross join makes it read the
    // history only once.
    const rows = await database.rows(
      `with wanted as materialized (
         select place, cast(number as bigint) as number, cast(url as text) as url from ${database.jsonRecords(pullColumns)})
       select place, min(case when action = 'pr_opened' then ${step} end) as opened,
         max(case when action <> 'pr_opened' then ${step} end) as outcome
       from history_entries cross join wanted
       where organisation_id = ? and prompt_id = ? and pr_number = number and pr_url = url
         ${knownUntil === null ? '' : 'and created_at <= ?'}
       group by place`,
      [JSON.stringify([...pulls.values()]), organisationId, id, ...(knownUntil === null ? [] : [knownUntil])],
    )
    const spans = new Map(
      rows.map((row) => [Number(row.place), { opened: toStep(row.opened), outcome: toStep(row.outcome) }]),
    )
    return entries.map((entry) => {
      const pull = pulls.get(pullKey(entry))
      return pull === undefined ? null : (spans.get(pull.place) ?? { opened: null, outcome: null })
    })
  }
}

function toStep(value: Value | undefined): PullStep | null {
  if (typeof value !== 'string') return null
  return {
    entryId: Number(value.slice(digits, 2 * digits)) - offset,
    action: value.slice(2 * digits) as Action,
    createdAt: Number(value.slice(0, digits)) - offset,
  }
}
