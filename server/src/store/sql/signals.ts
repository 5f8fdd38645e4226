import { entriesBefore } from '../../domain/page.ts'
import type { Prompt } from '../../domain/prompt.ts'
import { type Interval, intervalLength, intervalOrigin, type Span } from '../../domain/signals/interval.ts'
import type {
  IntervalTally,
  PromptSpan,
  SignalFilter,
  SignalStore,
  SignalValue,
  StoredSignal,
} from '../../domain/signals/signal.ts'
import type { Tally } from '../../domain/signals/tally.ts'
import { hourStart, type Instant, monthStart } from '../../domain/time.ts'
import type { Database, Row, StagedColumn, Value } from './database.ts'
import { sqlKeptSince } from './retention.ts'

const columns = 'id, value, metadata, created_at'
const portionSize = 1_000
const beginning = 0
const end = Number.MAX_SAFE_INTEGER

/**
 * Reading signals. Whole hours come from their sums, so that what is counted or skipped is not read. Spans are summed by
 * subqueries of their own, so that the engine looks each up by the index, whatever it thinks of the size of the tables.
 */
export function sqlSignals(
  database: Database,
): Pick<SignalStore, 'page' | 'stream' | 'sums' | 'tallies' | 'days' | 'used'> {
  const keptSince = sqlKeptSince(database)

  /** The same filter, as far back as signals are kept: from before there are only sums. Null where nothing is left. */
  async function amongKept(filter: SignalFilter): Promise<KeptFilter | null> {
    const since = Math.max(filter.since ?? beginning, await keptSince())
    return filter.until !== null && filter.until <= since ? null : { ...filter, since }
  }

  async function tallies(organisationId: number, spans: PromptSpan[]): Promise<Tally[]> {
    const records = spans.map(({ promptId, from, until }, place) => {
      return { place, prompt: promptId, first: hourStart(from), last: hourStart(until) }
    })
    const sum = (value: SignalValue) =>
      `(select coalesce(sum(${value}), 0) from signal_hours
        where organisation_id = ? and prompt_id = records.prompt and hour >= records.first and hour < records.last) as ${value}`
    const [whole, begun, ended] = await Promise.all([
      overSpans(records, sum, organisationId),
      begunHours(
        organisationId,
        spans.map(({ promptId, from }) => ({ promptId, at: from })),
      ),
      begunHours(
        organisationId,
        spans.map(({ promptId, until }) => ({ promptId, at: until })),
      ),
    ])
    return spans.map((_, i) => subtract(add(whole.get(i) ?? nothing, ended.get(i) ?? nothing), begun.get(i) ?? nothing))
  }

  /** For each instant, the signals of its hour that came before it; none where they are kept no longer. */
  function begunHours(
    organisationId: number,
    instants: { promptId: number; at: Instant }[],
  ): Promise<Map<number, Tally>> {
    const records = instants
      .map(({ promptId, at }, place) => ({ place, prompt: promptId, first: hourStart(at), last: at }))
      .filter(({ first, last }) => first !== last)
    const count = (value: SignalValue) =>
      `(select count(*) from signals where organisation_id = ? and prompt_id = records.prompt and value = '${value}'
        and created_at >= records.first and created_at < records.last
        and created_at >= (select kept_since from signal_retention)) as ${value}`
    return overSpans(records, count, organisationId)
  }

  async function overSpans(
    records: SpanRecord[],
    figure: (value: SignalValue) => string,
    organisationId: number,
  ): Promise<Map<number, Tally>> {
    if (records.length === 0) return new Map()
    const rows = await database.rows(
      `select place, ${figure('positive')}, ${figure('negative')} from ${database.records(spanColumns)}`,
      [organisationId, organisationId, JSON.stringify(records)],
    )
    return new Map(rows.map((row) => [row.place as number, tallyOf(row)]))
  }

  async function sums(
    { organisationId, id }: Prompt,
    { from, until }: Span,
    interval: Interval,
    order: 'asc' | 'desc' = 'asc',
  ): Promise<IntervalTally[]> {
    const rows = await database.rows(
      `select ${startOf(interval)} as start, sum(positive) as positive, sum(negative) as negative from signal_hours
       where organisation_id = ? and prompt_id = ? and hour >= ? and hour < ? group by 1 order by 1 ${order}`,
      [organisationId, id, from, until],
    )
    return rows.map(toIntervalTally)
  }

  /** Where to begin reading so that few rows have to be skipped before the one at this place, counted from the newest. */
  async function seek(prompt: Prompt, filter: KeptFilter, place: number): Promise<{ until: Instant; skip: number }> {
    const until = filter.until ?? end
    if (place === 0 && filter.value === null) return { until, skip: 0 }
    const begun = await begunHours(
      prompt.organisationId,
      filter.until === null ? [] : [{ promptId: prompt.id, at: until }],
    )
    const first = countOf(begun.get(0) ?? nothing, filter.value)
    if (place < first) return { until, skip: place }
    let span = { from: hourStart(filter.since), until: filter.until === null ? end : hourStart(until) }
    let skip = place - first
    // The day first, then the hour within it.
    for (const interval of ['day', 'hour'] as const) {
      let found: Instant | undefined
      for (const { start, ...tally } of await sums(prompt, span, interval, 'desc')) {
        const count = countOf(tally, filter.value)
        found = start
        if (skip < count) break
        skip -= count
      }
      if (found === undefined) return { until: beginning, skip: 0 }
      span = { from: Math.max(found, span.from), until: Math.min(found + intervalLength(interval), span.until) }
    }
    return { until: Math.min(until, span.until), skip }
  }

  return {
    tallies,

    async page(prompt, asked, request) {
      const filter = await amongKept(asked)
      if (filter === null) return { signals: [], totalCount: 0 }
      const span = { from: filter.since, until: filter.until ?? farFuture }
      const [tally] = await tallies(prompt.organisationId, [{ promptId: prompt.id, ...span }])
      const totalCount = Math.max(0, countOf(tally ?? nothing, filter.value))
      const place = entriesBefore(request)
      if (place >= totalCount) return { signals: [], totalCount }
      const { until, skip } = await seek(prompt, filter, place)
      const rows = await database.rows(
        `select ${columns} from signals
         where organisation_id = ? and prompt_id = ? and created_at >= ? and created_at < ? ${ofValue(filter)}
         order by created_at desc, id desc limit ? offset ?`,
        [prompt.organisationId, prompt.id, span.from, until, ...valueParameters(filter), request.limit, skip],
      )
      return { signals: rows.map(toStoredSignal), totalCount }
    },

    async *stream(prompt, asked) {
      const filter = await amongKept(asked)
      if (filter === null) return
      let [at, id] = [filter.since, 0]
      for (;;) {
        const rows: Row[] = await database.rows(
          `select ${columns} from signals
           where organisation_id = ? and prompt_id = ? and (created_at, id) > (?, ?) and created_at >= ? and created_at < ?
             ${ofValue(filter)}
           order by created_at, id limit ?`,
          [prompt.organisationId, prompt.id, at, id, at, filter.until ?? end, ...valueParameters(filter), portionSize],
        )
        if (rows.length > 0) yield rows.map(toStoredSignal)
        const last = rows.at(-1)
        if (last === undefined || rows.length < portionSize) return
        ;[at, id] = [last.created_at as number, last.id as number]
      }
    },

    sums: (prompt, span, interval) => sums(prompt, span, interval),

    async days(prompts, since) {
      const [first] = prompts
      if (first === undefined) return []
      const start = startOf('day')
      const rows = await database.rows(
        `select prompt_id, ${start} as start, sum(positive) as positive, sum(negative) as negative from signal_hours
         where organisation_id = ? and ${database.among('prompt_id', 'bigint')} and hour >= ? group by prompt_id, ${start}`,
        [first.organisationId, JSON.stringify(prompts.map(({ id }) => id)), since],
      )
      const rowsOf = Map.groupBy(rows, (row) => row.prompt_id)
      return prompts.map(({ id }) => (rowsOf.get(id) ?? []).map(toIntervalTally).sort((a, b) => a.start - b.start))
    },

    async used(organisationId, at) {
      const sql = 'select used from signal_usage where organisation_id = ? and month = ?'
      const [row] = await database.rows(sql, [organisationId, monthStart(at)])
      return (row?.used as number | undefined) ?? 0
    },
  }
}

// Beyond every signal, and a whole hour.
const farFuture = hourStart(8_640_000_000_000_000)

interface KeptFilter extends SignalFilter {
  since: Instant
}

interface SpanRecord {
  place: number
  prompt: number
  first: Instant
  last: Instant
}

const spanColumns: StagedColumn[] = [
  { name: 'place', type: 'bigint' },
  { name: 'prompt', type: 'bigint' },
  { name: 'first', type: 'bigint' },
  { name: 'last', type: 'bigint' },
]

const nothing: Tally = { positive: 0, negative: 0 }

function startOf(interval: Interval): string {
  return `hour - (hour - ${intervalOrigin(interval)}) % ${intervalLength(interval)}`
}

function toIntervalTally(row: Row): IntervalTally {
  return { start: row.start as number, ...tallyOf(row) }
}

function tallyOf(row: Row): Tally {
  return { positive: row.positive as number, negative: row.negative as number }
}

function add(a: Tally, b: Tally): Tally {
  return { positive: a.positive + b.positive, negative: a.negative + b.negative }
}

function subtract(a: Tally, b: Tally): Tally {
  return { positive: a.positive - b.positive, negative: a.negative - b.negative }
}

function countOf(tally: Tally, value: SignalValue | null): number {
  return value === null ? tally.positive + tally.negative : tally[value]
}

function ofValue({ value }: SignalFilter): string {
  return value === null ? '' : 'and value = ?'
}

function valueParameters({ value }: SignalFilter): Value[] {
  return value === null ? [] : [value]
}

function toStoredSignal(row: Row): StoredSignal {
  return {
    id: row.id as number,
    value: row.value as SignalValue,
    metadata: row.metadata as string | null,
    createdAt: row.created_at as number,
  }
}
