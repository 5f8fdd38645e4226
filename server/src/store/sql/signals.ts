import type { Span } from '../../domain/interval.ts'
import { entriesBefore } from '../../domain/page.ts'
import type { Prompt } from '../../domain/prompt.ts'
import type { SignalFilter, SignalStore, SignalValue, StoredSignal, Tally } from '../../domain/signal.ts'
import { hourStart, type Instant, monthStart } from '../../domain/time.ts'
import type { Database, Row, StagedColumn, Value } from './database.ts'

const columns = 'id, value, metadata, created_at'
const portionSize = 1_000
const beginning = 0
const end = Number.MAX_SAFE_INTEGER

/**
 * Reading signals. Whole hours come from their sums, so that what is counted or skipped is not read. `cross join` has SQLite look
 * up each span by the index, where it would otherwise go through all signals.
 */
export function sqlSignals(database: Database): Pick<SignalStore, 'page' | 'stream' | 'hours' | 'tallies' | 'used'> {
  async function tallies({ organisationId, id }: Prompt, spans: Span[]): Promise<Tally[]> {
    const records = spans.map(({ from, until }, place) => ({ place, first: hourStart(from), last: hourStart(until) }))
    const whole = await database.rows(
      `select records.place, sum(h.positive) as positive, sum(h.negative) as negative
       from ${database.records(spanColumns)} cross join signal_hours h
       where h.organisation_id = ? and h.prompt_id = ? and h.hour >= records.first and h.hour < records.last
       group by records.place`,
      [JSON.stringify(records), organisationId, id],
    )
    const begun = await begunHours(
      { organisationId, id },
      spans.flatMap(({ from, until }) => [from, until]),
    )
    const wholeOf = new Map(whole.map((row) => [row.place, tallyOf(row)]))
    return spans.map(({ from, until }, place) => {
      const tally = wholeOf.get(place) ?? nothing
      return subtract(add(tally, begun.get(until) ?? nothing), begun.get(from) ?? nothing)
    })
  }

  /** For each instant, the signals of its hour that came before it. */
  async function begunHours(
    { organisationId, id }: Pick<Prompt, 'organisationId' | 'id'>,
    instants: Instant[],
  ): Promise<Map<Instant, Tally>> {
    const within = [...new Set(instants)].filter((at) => hourStart(at) !== at)
    if (within.length === 0) return new Map()
    const records = within.map((at) => ({ place: at, first: hourStart(at), last: at }))
    const rows = await database.rows(
      `select records.place, sum(case s.value when 'positive' then 1 else 0 end) as positive,
         sum(case s.value when 'negative' then 1 else 0 end) as negative
       from ${database.records(spanColumns)} cross join signals s
       where s.organisation_id = ? and s.prompt_id = ? and s.created_at >= records.first and s.created_at < records.last
       group by records.place`,
      [JSON.stringify(records), organisationId, id],
    )
    return new Map(rows.map((row) => [row.place as number, tallyOf(row)]))
  }

  function hourRows({ organisationId, id }: Prompt, { from, until }: Span, order: 'asc' | 'desc'): Promise<Row[]> {
    return database.rows(
      `select hour, positive, negative from signal_hours
       where organisation_id = ? and prompt_id = ? and hour >= ? and hour < ? order by hour ${order}`,
      [organisationId, id, from, until],
    )
  }

  /** Where to begin reading so that few rows have to be skipped before the one at this place, counted from the newest. */
  async function seek(prompt: Prompt, filter: SignalFilter, place: number): Promise<{ until: Instant; skip: number }> {
    const until = filter.until ?? end
    if (place === 0 && filter.value === null) return { until, skip: 0 }
    const lastHour = filter.until === null ? end : hourStart(until)
    const begun = filter.until === null ? new Map() : await begunHours(prompt, [until])
    const first = countOf(begun.get(until) ?? nothing, filter.value)
    if (place < first) return { until, skip: place }
    let skip = place - first
    for (const row of await hourRows(prompt, { from: hourStart(filter.since ?? beginning), until: lastHour }, 'desc')) {
      const count = countOf(tallyOf(row), filter.value)
      if (skip < count) return { until: Math.min(until, (row.hour as number) + hourLength), skip }
      skip -= count
    }
    return { until: beginning, skip: 0 }
  }

  return {
    tallies,

    async page(prompt, filter, request) {
      const span = { from: filter.since ?? beginning, until: filter.until ?? farFuture }
      const [tally] = await tallies(prompt, [span])
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

    async *stream(prompt, filter) {
      let [at, id] = [filter.since ?? beginning, 0]
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

    async hours(prompt, span) {
      const rows = await hourRows(prompt, span, 'asc')
      return rows.map((row) => ({ hour: row.hour as number, ...tallyOf(row) }))
    },

    async used(organisationId, at) {
      const sql = 'select used from signal_usage where organisation_id = ? and month = ?'
      const [row] = await database.rows(sql, [organisationId, monthStart(at)])
      return (row?.used as number | undefined) ?? 0
    },
  }
}

const hourLength = 3_600_000
// Beyond every signal, and a whole hour.
const farFuture = hourStart(8_640_000_000_000_000)

const spanColumns: StagedColumn[] = [
  { name: 'place', type: 'bigint' },
  { name: 'first', type: 'bigint' },
  { name: 'last', type: 'bigint' },
]

const nothing: Tally = { positive: 0, negative: 0 }

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
