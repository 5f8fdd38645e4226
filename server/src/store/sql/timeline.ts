import type { Action } from '../../domain/history/entry.ts'
import { type HistoryStore, type PullStep, pullKey, type TimelineFilter } from '../../domain/history/history.ts'
import { pageOffset } from '../../domain/page.ts'
import type { Prompt } from '../../domain/prompt.ts'
import { type ColumnTypes, type Database, requireRow, type Value } from './database.ts'
import { detailColumns, toDetails } from './history-rows.ts'

export function sqlTimeline(database: Database): HistoryStore['timeline'] {
  return async (prompt, filter, request) => {
    const { outcomes, entries, parameters } = matching(prompt, filter)
    const [counts, rows] = await Promise.all([
      database.rows(`${outcomes} select count(*) as count from ${entries}`, parameters),
      database.rows(
        `${outcomes} select ${detailColumns} from ${entries} order by created_at desc, id desc limit ? offset ?`,
        [...parameters, request.limit, pageOffset(request)],
      ),
    ])
    return { entries: rows.map(toDetails), totalCount: requireRow(counts).count as number }
  }
}

/** Each part is a range of the index, so that the last one costs as much as the first. */
export function sqlTimelineAfter(database: Database): HistoryStore['timelineAfter'] {
  return async (prompt, filter, last, limit) => {
    const { outcomes, entries, parameters } = matching(prompt, filter)
    const rows = await database.rows(
      `${outcomes} select ${detailColumns} from ${entries}${last === null ? '' : ' and (created_at, id) < (?, ?)'}
       order by created_at desc, id desc limit ?`,
      [...parameters, ...(last === null ? [] : [last.createdAt, last.id]), limit],
    )
    return rows.map(toDetails)
  }
}

interface Matching {
  /** Comes before the `select`. */
  outcomes: string
  /** Comes after the `from`. */
  entries: string
  parameters: Value[]
}

function matching({ organisationId, id }: Prompt, filter: TimelineFilter): Matching {
  const { conditions, parameters } = filterConditions(filter)
  const ofPrompt = 'where organisation_id = ? and prompt_id = ?'
  const values = [organisationId, id, ...parameters]
  if (filter.pulls !== 'outcome') {
    return { outcomes: '', entries: `history_entries ${ofPrompt}${conditions}`, parameters: values }
  }
  const { knownUntil = null } = filter
  return {
    // Grouped once and joined: looking up the outcome of each opening would take quadratic time if many share a number.
    outcomes: `with outcomes as (
        select pr_number as outcome_number, ${pullUrl} as outcome_url, max(created_at) as outcome_at from history_entries
        ${ofPrompt} and action in ('pr_merged', 'pr_closed')${knownUntil === null ? '' : ' and created_at <= ?'}
        group by pr_number, ${pullUrl})`,
    entries: `history_entries left join outcomes on outcome_number = pr_number and outcome_url = ${pullUrl}
      ${ofPrompt} and (action <> 'pr_opened' or outcome_at is null or outcome_at < created_at)${conditions}`,
    parameters: [organisationId, id, ...(knownUntil === null ? [] : [knownUntil]), ...values],
  }
}

// Of pull requests with the same number. A whole URL can have 2,000 characters, which take SQLite seconds to compare.
const pullUrl = 'substr(pr_url, 1, 200)'

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

const pullColumns: ColumnTypes = { place: 'bigint', number: 'bigint', url: 'text' }

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
