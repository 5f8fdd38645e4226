import { createBoundedMap } from '../../domain/bounded-map.ts'
import type { Prompt } from '../../domain/prompt.ts'
import { type Interval, intervalLength, intervalOrigin, type Span } from '../../domain/signals/interval.ts'
import {
  type IntervalTally,
  maxNames,
  maxVersionHours,
  maxVersions,
  type PromptSpan,
  type SignalStore,
  type SignalValue,
} from '../../domain/signals/signal.ts'
import { emptyTally, type Tally } from '../../domain/signals/tally.ts'
import { type Clock, day, hourStart, type Instant } from '../../domain/time.ts'
import type { ColumnTypes, Database, Row } from './database.ts'
import { closedUntil } from './hour-revisions.ts'
import { startedSpans } from './started-spans.ts'

interface SqlTallies
  extends Pick<
    SignalStore,
    'tallies' | 'versionTallies' | 'versionsOf' | 'versionsStartingWith' | 'versionedPrompts' | 'tallyByDay'
  > {
  tallyByInterval(
    prompt: Prompt,
    span: Span,
    interval: Interval,
    order?: 'asc' | 'desc',
  ): ReturnType<SignalStore['tallyByInterval']>
  /** For each instant, by its index, the retained signals of its hour that came before it. Instants on the hour are omitted. */
  startedHours(
    organisationId: number,
    instants: { promptId: number; at: Instant }[],
    unversionedOnly?: boolean,
  ): Promise<Map<number, Tally>>
}

interface SpanRecord {
  place: number
  prompt: number
  first: Instant
  last: Instant
}

const sum = `select coalesce(sum(positive), 0) || ',' || coalesce(sum(negative), 0) from hour_sums
  where organisation_id = ? and prompt_id = records.prompt and hour >= records.first and hour < records.last`

// Of days that are over. 30 days of 2,000 prompts take about 5 MB.
const maxRememberedDays = 60_000
// A few days are read at once.
const minRememberedMs = 7 * day

const spanColumns: ColumnTypes = { place: 'bigint', prompt: 'bigint', first: 'bigint', last: 'bigint' }

const versionColumns: ColumnTypes = { place: 'bigint', prompt: 'bigint', version: 'text' }

/**
 * Counts signals by the hourly sums, and reads single signals only for hours that a span covers in part. Each span is summed by
 * its own subquery, so the engine looks it up by index, whatever its row estimates.
 */
export function sqlTallies(database: Database, clock: Clock): SqlTallies {
  // By prompt, span and revision.
  const closedDays = createBoundedMap<IntervalTally[]>(maxRememberedDays)
  const closedIntervals = createBoundedMap<IntervalTally[]>(maxRememberedDays)

  async function tallies(organisationId: number, spans: PromptSpan[]): Promise<Tally[]> {
    const records = spans.map(({ promptId, from, until }, place) => {
      return { place, prompt: promptId, first: hourStart(from), last: hourStart(until) }
    })
    // Most spans start where another one ends, so each instant is counted once.
    const instants = new Map<string, number>()
    const indexOf = (promptId: number, at: Instant) => {
      const key = `${promptId} ${at}`
      const index = instants.get(key) ?? instants.size
      instants.set(key, index)
      return index
    }
    const ends = spans.map(({ promptId, from, until }) => [indexOf(promptId, from), indexOf(promptId, until)] as const)
    const unique = [...instants.keys()].map((key) => {
      const [promptId, at] = key.split(' ').map(Number) as [number, Instant]
      return { promptId, at }
    })
    const [whole, started] = await Promise.all([
      tallySpans(records, sum, organisationId),
      startedHours(organisationId, unique),
    ])
    return spans.map((_, i) => {
      const [start, end] = ends[i] as readonly [number, number]
      const untilEnd = add(whole.get(i) ?? emptyTally, started.get(end) ?? emptyTally)
      return subtract(untilEnd, started.get(start) ?? emptyTally)
    })
  }

  async function startedHours(
    organisationId: number,
    instants: { promptId: number; at: Instant }[],
    unversionedOnly = false,
  ): Promise<Map<number, Tally>> {
    const condition = unversionedOnly ? 'and version is null' : ''
    const spans = startedSpans(instants)
    const count = `select count(*) filter (where value = 'positive') || ',' || count(*) filter (where value = 'negative')
      from signals where organisation_id = ? and prompt_id = records.prompt
        and created_at >= records.first and created_at < records.last ${condition}
        and created_at >= (select kept_since from signal_retention)`
    const counts = await tallySpans(spans, count, organisationId)
    for (const { place, after } of spans) {
      counts.set(place, add(counts.get(place) ?? emptyTally, counts.get(after) ?? emptyTally))
    }
    return counts
  }

  /** `tally` returns both numbers with a comma: two subqueries would read everything twice. */
  async function tallySpans(records: SpanRecord[], tally: string, organisationId: number): Promise<Map<number, Tally>> {
    if (records.length === 0) return new Map()
    const rows = await database.rows(`select place, (${tally}) as tally from ${database.jsonRecords(spanColumns)}`, [
      organisationId,
      JSON.stringify(records),
    ])
    return new Map(
      rows.map((row) => {
        const [positive, negative] = (row.tally as string).split(',').map(Number) as [number, number]
        return [row.place as number, { positive, negative }]
      }),
    )
  }

  return {
    tallies,
    startedHours,

    async versionTallies(organisationId, versions, until = Number.MAX_SAFE_INTEGER) {
      if (versions.length === 0) return []
      const records = versions.map(({ promptId, version }, place) => ({ place, prompt: promptId, version }))
      const sumOf = (value: SignalValue) =>
        `(select coalesce(sum(${value}), 0) from version_sums
          where organisation_id = ? and prompt_id = records.prompt and version = records.version and hour < ?) as ${value}`
      const rows = await database.rows(
        `select place, ${sumOf('positive')}, ${sumOf('negative')} from ${database.jsonRecords(versionColumns)}`,
        [organisationId, until, organisationId, until, JSON.stringify(records)],
      )
      const found = new Map(rows.map((row) => [row.place as number, toTally(row)]))
      return versions.map((_, i) => found.get(i) ?? emptyTally)
    },

    async versionsOf({ organisationId, id }) {
      const [{ hours } = { hours: 0 }] = await database.rows(
        `select count(*) as hours from (
           select 1 from version_sums where organisation_id = ? and prompt_id = ? limit ${maxVersionHours + 1}) as counted`,
        [organisationId, id],
      )
      if (hours === 0) return []
      const all = 'version_sums where organisation_id = ? and prompt_id = ?'
      const newest = `(select version, positive, negative from ${all} order by hour desc limit ${maxVersionHours}) as newest`
      // All of them are in the order of the primary key, so that nothing has to be sorted to group them.
      const rows = await database.rows(
        `select version, sum(positive) as positive, sum(negative) as negative
         from ${(hours as number) > maxVersionHours ? newest : all} group by version`,
        [organisationId, id],
      )
      return rows
        .map((row) => ({ version: row.version as string, ...toTally(row) }))
        .filter(({ positive, negative }) => positive + negative > 0)
        .sort((a, b) => b.positive + b.negative - a.positive - a.negative || (a.version < b.version ? -1 : 1))
        .slice(0, maxVersions)
    },

    async versionsStartingWith({ organisationId, id }, start) {
      // Jumps from one version to the next in the primary key, however many hours each has. The order is that of the database,
      // which may ignore punctuation, so versions of other kinds are in between.
      const next = (after: string) =>
        `(select min(version) from version_sums where organisation_id = ? and prompt_id = ? and version ${after} and version < ?)`
      const parameters = [organisationId, id]
      const end = `${start}g`
      const rows = await database.rows(
        `with recursive found (version, number) as (
           select ${next('>= ?')}, 1
           union all
           select ${next('> found.version')}, number + 1 from found where version is not null and number <= ${maxNames}
         ) select version from found where version is not null`,
        [...parameters, start, end, ...parameters, end],
      )
      if (rows.length > maxNames) return null
      return rows.map(({ version }) => version as string).filter((version) => version.startsWith(start))
    },

    async versionedPrompts(organisationId, promptIds) {
      if (promptIds.length === 0) return new Set()
      const records = promptIds.map((id) => ({ requested: id }))
      const rows = await database.rows(
        `select requested from ${database.jsonRecords({ requested: 'bigint' })}
         where exists (select 1 from version_sums where organisation_id = ? and prompt_id = requested)`,
        [JSON.stringify(records), organisationId],
      )
      return new Set(rows.map((row) => row.requested as number))
    },

    async tallyByInterval(prompt, { from, until }, interval, order = 'asc') {
      const { organisationId, id } = prompt
      const end = Math.min(until, closedUntil(clock()))
      if (end - from < minRememberedMs) return inOrder(await readIntervals(prompt, { from, until }, interval), order)
      // The revision is read first: see tallyByDay.
      const [revisions, open] = await Promise.all([
        revisionsOf(organisationId, [id]),
        readIntervals(prompt, { from: end, until }, interval),
      ])
      const key = `${organisationId} ${id} ${interval} ${from} ${end} ${revisions.get(id) ?? 0}`
      let closed = closedIntervals.get(key)
      if (closed === undefined) {
        closed = await readIntervals(prompt, { from, until: end }, interval)
        closedIntervals.set(key, closed, closed.length + 1)
      }
      return inOrder(joined(closed, open), order)
    },

    async tallyByDay(prompts, since) {
      const [first] = prompts
      if (first === undefined) return []
      const { organisationId } = first
      const end = Math.max(since, closedUntil(clock()))
      const ids = prompts.map(({ id }) => id)
      // The revisions are read first. If sums change after that, they are remembered for a revision that is over already.
      const revisions = await revisionsOf(organisationId, ids)
      const keys = ids.map((id) => `${organisationId} ${id} ${since} ${end} ${revisions.get(id) ?? 0}`)
      const closed = keys.map((key) => closedDays.get(key))
      const missing = ids.filter((_, i) => closed[i] === undefined)
      const [open, read] = await Promise.all([
        readDays(organisationId, ids, { from: end, until: Number.MAX_SAFE_INTEGER }),
        readDays(organisationId, missing, { from: since, until: end }),
      ])
      return ids.map((id, i) => {
        let days = closed[i]
        if (days === undefined) {
          days = read.get(id) ?? []
          closedDays.set(keys[i] as string, days, days.length + 1)
        }
        return [...days, ...(open.get(id) ?? [])]
      })
    },
  }

  /** The tallies of the intervals with signals, in the order of time. */
  async function readIntervals(
    { organisationId, id }: Prompt,
    { from, until }: Span,
    interval: Interval,
  ): Promise<IntervalTally[]> {
    if (from >= until) return []
    const rows = await database.rows(
      `select ${startOf(interval)} as start, sum(positive) as positive, sum(negative) as negative from hour_sums
       where organisation_id = ? and prompt_id = ? and hour >= ? and hour < ? group by 1 order by 1`,
      [organisationId, id, from, until],
    )
    return rows.map(toIntervalTally)
  }

  async function revisionsOf(organisationId: number, promptIds: number[]): Promise<Map<number, number>> {
    const rows = await database.rows(
      `select prompt_id, revision from hour_revisions
       where organisation_id = ? and ${database.inJsonArray('prompt_id', 'bigint')}`,
      [organisationId, JSON.stringify(promptIds)],
    )
    return new Map(rows.map((row) => [row.prompt_id as number, row.revision as number]))
  }

  /** The tallies of each day with signals, in order, by prompt. */
  async function readDays(
    organisationId: number,
    promptIds: number[],
    { from, until }: Span,
  ): Promise<Map<number, IntervalTally[]>> {
    if (promptIds.length === 0 || from >= until) return new Map()
    const start = startOf('day')
    const rows = await database.rows(
      `select prompt_id, ${start} as start, sum(positive) as positive, sum(negative) as negative from hour_sums
       where organisation_id = ? and ${database.inJsonArray('prompt_id', 'bigint')} and hour >= ? and hour < ?
       group by prompt_id, ${start} order by start`,
      [organisationId, JSON.stringify(promptIds), from, until],
    )
    const days = new Map<number, IntervalTally[]>()
    for (const row of rows) {
      const id = row.prompt_id as number
      const ofPrompt = days.get(id)
      if (ofPrompt === undefined) days.set(id, [toIntervalTally(row)])
      else ofPrompt.push(toIntervalTally(row))
    }
    return days
  }
}

export function startOf(interval: Interval): string {
  return `hour - (hour - ${intervalOrigin(interval)}) % ${intervalLength(interval)}`
}

export function toIntervalTally(row: Row): IntervalTally {
  return { start: row.start as number, ...toTally(row) }
}

export function toTally(row: Row): Tally {
  return { positive: row.positive as number, negative: row.negative as number }
}

function inOrder(tallies: IntervalTally[], order: 'asc' | 'desc'): IntervalTally[] {
  return order === 'asc' ? tallies : tallies.toReversed()
}

/** Both may have a part of the interval in between. */
function joined(before: IntervalTally[], after: IntervalTally[]): IntervalTally[] {
  const [last, first] = [before.at(-1), after[0]]
  if (last === undefined || first === undefined || last.start !== first.start) return [...before, ...after]
  return [...before.slice(0, -1), { start: last.start, ...add(last, first) }, ...after.slice(1)]
}

export function add(a: Tally, b: Tally): Tally {
  return { positive: a.positive + b.positive, negative: a.negative + b.negative }
}

export function subtract(a: Tally, b: Tally): Tally {
  return { positive: a.positive - b.positive, negative: a.negative - b.negative }
}
