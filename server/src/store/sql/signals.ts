import { pageOffset } from '../../domain/page.ts'
import type { Prompt } from '../../domain/prompt.ts'
import type { ErasureStore } from '../../domain/signals/erasure.ts'
import { intervalLength } from '../../domain/signals/interval.ts'
import type { RetentionStore } from '../../domain/signals/retention.ts'
import type { SignalFilter, SignalStore, SignalValue, StoredSignal } from '../../domain/signals/signal.ts'
import { emptyTally, type Tally } from '../../domain/signals/tally.ts'
import { hourStart, type Instant, monthStart } from '../../domain/time.ts'
import type { Database, Row, Value } from './database.ts'
import { sqlRetainedSince } from './retention.ts'
import { sqlTallies } from './tallies.ts'

type SignalReads = Omit<SignalStore, 'record' | 'import' | 'delete' | keyof ErasureStore | keyof RetentionStore>

interface RetainedFilter extends SignalFilter {
  since: Instant
}

const columns = 'id, value, metadata, created_at, version, subject, voter, comment, received_at, trace_id'
// A batch is in memory as a whole: at most 1.6 MB with the largest metadata.
const batchSize = 100
const beginning = 0
const end = Number.MAX_SAFE_INTEGER
// Later than any signal, and the start of an hour.
const farFuture = hourStart(8_640_000_000_000_000)

/** Reads signals. Counting and skipping use the hourly sums, so only the signals of the page itself are read. */
export function sqlSignals(database: Database): SignalReads {
  const retainedSince = sqlRetainedSince(database)
  const { tallyByInterval, startedHours, ...counts } = sqlTallies(database)
  const { tallies } = counts

  /** Limits the filter to retained signals: before that, only sums exist. Null if nothing can match. */
  async function withinRetention(filter: SignalFilter): Promise<RetainedFilter | null> {
    const since = Math.max(filter.since ?? beginning, await retainedSince())
    return filter.until !== null && filter.until <= since ? null : { ...filter, since }
  }

  /** Finds where to start reading so that few rows precede the signal at this offset from the newest. */
  async function seek(
    prompt: Prompt,
    filter: RetainedFilter,
    offset: number,
  ): Promise<{ until: Instant; skip: number }> {
    const until = filter.until ?? end
    if (offset === 0 && filter.value === null) return { until, skip: 0 }
    const started = await startedHours(
      prompt.organisationId,
      filter.until === null ? [] : [{ promptId: prompt.id, at: until }],
    )
    const inStartedHour = countOf(started.get(0) ?? emptyTally, filter.value)
    if (offset < inStartedHour) return { until, skip: offset }
    let span = { from: hourStart(filter.since), until: filter.until === null ? end : hourStart(until) }
    let skip = offset - inStartedHour
    // Narrow it down to a day, then to an hour of that day.
    for (const interval of ['day', 'hour'] as const) {
      let containing: Instant | undefined
      for (const { start, ...tally } of await tallyByInterval(prompt, span, interval, 'desc')) {
        const count = countOf(tally, filter.value)
        containing = start
        if (skip < count) break
        skip -= count
      }
      if (containing === undefined) return { until: beginning, skip: 0 }
      span = {
        from: Math.max(containing, span.from),
        until: Math.min(containing + intervalLength(interval), span.until),
      }
    }
    return { until: Math.min(until, span.until), skip }
  }

  return {
    ...counts,
    tallyByInterval: (prompt, span, interval) => tallyByInterval(prompt, span, interval),

    async page(prompt, requestedFilter, request) {
      const filter = await withinRetention(requestedFilter)
      if (filter === null) return { signals: [], totalCount: 0 }
      const span = { from: filter.since, until: filter.until ?? farFuture }
      const [tally] = await tallies(prompt.organisationId, [{ promptId: prompt.id, ...span }])
      const totalCount = Math.max(0, countOf(tally ?? emptyTally, filter.value))
      const offset = pageOffset(request)
      if (offset >= totalCount) return { signals: [], totalCount }
      const { until, skip } = await seek(prompt, filter, offset)
      const rows = await database.rows(
        `select ${columns} from signals
         where organisation_id = ? and prompt_id = ? and created_at >= ? and created_at < ? ${valueCondition(filter)}
         order by created_at desc, id desc limit ? offset ?`,
        [prompt.organisationId, prompt.id, span.from, until, ...valueParameters(filter), request.limit, skip],
      )
      return { signals: rows.map(toStoredSignal), totalCount }
    },

    async *stream(prompt, requestedFilter) {
      const filter = await withinRetention(requestedFilter)
      if (filter === null) return
      let [at, id] = [filter.since, 0]
      for (;;) {
        const rows: Row[] = await database.rows(
          `select ${columns} from signals
           where organisation_id = ? and prompt_id = ? and (created_at, id) > (?, ?) and created_at >= ? and created_at < ?
             ${valueCondition(filter)}
           order by created_at, id limit ?`,
          [prompt.organisationId, prompt.id, at, id, at, filter.until ?? end, ...valueParameters(filter), batchSize],
        )
        if (rows.length > 0) yield rows.map(toStoredSignal)
        const last = rows.at(-1)
        if (last === undefined || rows.length < batchSize) return
        ;[at, id] = [last.created_at as number, last.id as number]
      }
    },

    async usedInMonth(organisationId, at) {
      const sql = 'select used from signal_usage where organisation_id = ? and month = ?'
      const [row] = await database.rows(sql, [organisationId, monthStart(at)])
      return (row?.used as number | undefined) ?? 0
    },
  }
}

function countOf(tally: Tally, value: SignalValue | null): number {
  return value === null ? tally.positive + tally.negative : tally[value]
}

function valueCondition({ value }: SignalFilter): string {
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
    createdAt: (row.received_at ?? row.created_at) as number,
    occurredAt: row.created_at as number,
    version: row.version as string | null,
    subject: row.subject as string | null,
    voter: row.voter as string | null,
    comment: row.comment as string | null,
    traceId: row.trace_id as string | null,
  }
}
