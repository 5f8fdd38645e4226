import { pageOffset } from '../../domain/page.ts'
import type { Prompt } from '../../domain/prompt.ts'
import { countsIn } from '../../domain/signals/counted-signals.ts'
import type { ErasureStore } from '../../domain/signals/erasure.ts'
import { intervalLength } from '../../domain/signals/interval.ts'
import type { RetentionStore } from '../../domain/signals/retention.ts'
import type { SignalFilter, SignalStore, SignalValue, StoredSignal } from '../../domain/signals/signal.ts'
import { emptyTally, type Tally } from '../../domain/signals/tally.ts'
import type { VoteStore } from '../../domain/signals/votes.ts'
import { type Clock, hourStart, type Instant, nextTurn } from '../../domain/time.ts'
import type { Database, Row, Value } from './database.ts'
import { likePattern, mayMatch } from './erasure.ts'
import { sqlHourlySums } from './hourly-sums.ts'
import { usedInMonth } from './organisations.ts'
import { sqlRetainedSince } from './retention.ts'
import { columns, toStoredSignal } from './signal-rows.ts'
import { sqlTallies } from './tallies.ts'
import { type SignalCounts, sqlVersionCounts } from './version-counts.ts'
import { sqlVotes } from './votes.ts'
import { windowCondition } from './window-condition.ts'

type SignalReads = Omit<
  SignalStore,
  'record' | 'enqueue' | 'import' | 'delete' | keyof ErasureStore | keyof RetentionStore
>

interface RetainedFilter extends SignalFilter {
  since: Instant
}

interface Selection {
  columns: string
  columnParameters?: Value[]
  where: string
  parameters: Value[]
  order: 'asc' | 'desc'
  limit: number
  skip?: number
}

// A batch is in memory as a whole, and no request runs while it is made into lines: mostly 400 KB, and never more than 1.6 MB.
const [firstBatchSize, maxBatchSize] = [25, 100]
const batchCharacters = 400_000
// At most 3.2 MB with the largest metadata.
const searchedSize = 200
const beginning = 0
const end = Number.MAX_SAFE_INTEGER
// Later than any signal, and the start of an hour.
const farFuture = hourStart(8_640_000_000_000_000)

/** Reads signals. Counting and skipping use the hourly sums, so only the signals of the page itself are read. */
export function sqlSignals(database: Database, clock: Clock): SignalReads & VoteStore {
  const retainedSince = sqlRetainedSince(database)
  const { tallyByInterval, startedHours, ...counts } = sqlTallies(database, clock)
  const { tallies } = counts

  /** Limits the filter to retained signals: before that, only sums exist. Null if nothing can match. */
  async function withinRetention(filter: SignalFilter): Promise<RetainedFilter | null> {
    const since = Math.max(filter.since ?? beginning, await retainedSince())
    return filter.until !== null && filter.until <= since ? null : { ...filter, since }
  }

  function countsOf(prompt: Prompt, { versions = null }: SignalFilter): SignalCounts {
    if (versions !== null) return sqlVersionCounts(database, prompt, versions)
    const { id: promptId, organisationId } = prompt
    return {
      total: async (span) => (await tallies(organisationId, [{ promptId, ...span }]))[0] ?? emptyTally,
      startedHour: async (at) => (await startedHours(organisationId, [{ promptId, at }])).get(0) ?? emptyTally,
      byInterval: (span, interval) => tallyByInterval(prompt, span, interval, 'desc'),
    }
  }

  /** Finds where to start reading so that few rows precede the signal at this offset from the newest. */
  async function seek(
    prompt: Prompt,
    filter: RetainedFilter,
    offset: number,
  ): Promise<{ until: Instant; skip: number }> {
    const until = filter.until ?? end
    if (offset === 0 && filter.value === null) return { until, skip: 0 }
    const { startedHour, byInterval } = countsOf(prompt, filter)
    const inStartedHour = filter.until === null ? 0 : countOf(await startedHour(until), filter.value)
    if (offset < inStartedHour) return { until, skip: offset }
    let span = { from: hourStart(filter.since), until: filter.until === null ? end : hourStart(until) }
    let skip = offset - inStartedHour
    // Narrow it down to a day, then to an hour of that day.
    for (const interval of ['day', 'hour'] as const) {
      let containing: Instant | undefined
      for (const { start, ...tally } of await byInterval(span, interval)) {
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

  /** Reads the first rows in order. Each version is read by its index, and only as far as needed, before they are merged. */
  function select(prompt: Prompt, { versions = null }: SignalFilter, selection: Selection): Promise<Row[]> {
    const { columns, columnParameters = [], where, parameters, order, limit, skip = 0 } = selection
    const ofPrompt = [prompt.organisationId, prompt.id]
    const inOrder = `order by created_at ${order}, id ${order} limit ?`
    const all = `select ${columns} from signals where organisation_id = ? and prompt_id = ? and ${where}`
    const bounds = [...columnParameters, ...ofPrompt, ...parameters]
    if (versions === null) return database.rowsPlanned(`${all} ${inOrder} offset ?`, [...bounds, limit, skip])
    const ofVersion = `select * from (${all} and version = ? ${inOrder}) as of_version`
    return database.rowsPlanned(
      `select * from (${versions.map(() => ofVersion).join(' union all ')}) as found ${inOrder} offset ?`,
      [...versions.flatMap((version) => [...bounds, version, skip + limit]), limit, skip],
    )
  }

  return {
    ...counts,
    ...sqlVotes(database, retainedSince),
    tallyByInterval: (prompt, span, interval) => tallyByInterval(prompt, span, interval),
    ...sqlHourlySums(database, clock),

    async startedHours(organisationId, instants) {
      const found = await startedHours(organisationId, instants, true)
      return instants.map((_, i) => found.get(i) ?? emptyTally)
    },

    async countByVersion({ organisationId, id }, { from, until }) {
      const count = (value: SignalValue) => `sum(case when value = '${value}' then 1 else 0 end) as ${value}`
      const rows = await database.rows(
        `select version, ${count('positive')}, ${count('negative')} from signals
         where organisation_id = ? and prompt_id = ? and created_at >= ? and created_at < ?
           and created_at >= (select kept_since from signal_retention) group by version`,
        [organisationId, id, from, until],
      )
      return rows.map((row) => ({
        version: row.version as string | null,
        positive: row.positive as number,
        negative: row.negative as number,
      }))
    },

    async page(prompt, requestedFilter, request) {
      const filter = await withinRetention(requestedFilter)
      if (filter === null) return { signals: [], totalCount: 0 }
      const span = { from: filter.since, until: filter.until ?? farFuture }
      const tally = await countsOf(prompt, filter).total(span)
      const totalCount = Math.max(0, countOf(tally, filter.value))
      const offset = pageOffset(request)
      if (offset >= totalCount) return { signals: [], totalCount }
      const { until, skip } = await seek(prompt, filter, offset)
      const rows = await select(prompt, filter, {
        columns,
        where: `created_at >= ? and created_at < ? ${valueCondition(filter)}`,
        parameters: [span.from, until, ...valueParameters(filter)],
        order: 'desc',
        limit: request.limit,
        skip,
      })
      return { signals: rows.map(toStoredSignal), totalCount }
    },

    async windowSignals(prompt, window, span, { value, skip, limit }) {
      const since = Math.max(span.from, await retainedSince())
      const until = Math.min(span.until, window.until)
      if (until <= since) return []
      const condition = windowCondition(database, window, { from: since, until })
      const where = `created_at >= ? and created_at < ? ${value === null ? '' : 'and value = ?'}`
      const parameters = [since, until, ...(value === null ? [] : [value])]
      if (condition !== null) {
        const rows = await select(
          prompt,
          { value, since, until },
          {
            columns,
            where: `${where} ${condition.sql}`,
            parameters: [...parameters, ...condition.parameters],
            order: 'desc',
            limit,
            skip,
          },
        )
        return rows.map(toStoredSignal)
      }
      const counts = countsIn(window)
      const found: StoredSignal[] = []
      let left = skip
      for (let last = { created_at: end, id: end } as Row; ; await nextTurn()) {
        const rows = await select(
          prompt,
          { value, since, until },
          {
            columns,
            where: `${where} and (created_at, id) < (?, ?)`,
            parameters: [...parameters, last.created_at as number, last.id as number],
            order: 'desc',
            limit: searchedSize,
          },
        )
        for (const signal of rows.map(toStoredSignal).filter(counts)) {
          if (left > 0) left--
          else if (found.push(signal) === limit) return found
        }
        if (rows.length < searchedSize) return found
        last = rows.at(-1) as Row
      }
    },

    async *stream(prompt, requestedFilter) {
      const filter = await withinRetention(requestedFilter)
      if (filter === null) return
      let [at, id] = [filter.since, 0]
      let limit = firstBatchSize
      for (;;) {
        const rows: Row[] = await select(prompt, filter, {
          columns,
          where: `(created_at, id) > (?, ?) and created_at >= ? and created_at < ? ${valueCondition(filter)}
            ${commentCondition(filter)}`,
          parameters: [at, id, at, filter.until ?? end, ...valueParameters(filter)],
          order: 'asc',
          limit,
        })
        const { content = null } = filter
        const signals = rows.map(toStoredSignal)
        // Batches without a match are yielded too, so that the caller can stop.
        if (rows.length > 0) yield content === null ? signals : signals.filter(content.matches)
        const last = rows.at(-1)
        if (last === undefined || rows.length < limit) return
        ;[at, id] = [last.created_at as number, last.id as number]
        limit = batchSizeAfter(signals)
      }
    },

    async searchNext(prompt, requestedFilter, before) {
      const filter = await withinRetention(requestedFilter)
      if (filter === null) return { matches: [], examined: 0, last: null }
      const { value, content } = requestedFilter
      const { metadataPrefilter } = content
      // Metadata that cannot match is not worth transferring. The value is not part of the query: it would have to examine
      // any number of signals to find some.
      const metadata = metadataPrefilter === null ? 'metadata' : `case when ${mayMatch} then metadata end as metadata`
      const [at, id] = [before?.at ?? end, before?.id ?? end]
      const rows = await select(prompt, filter, {
        columns: columns.replace('metadata', metadata),
        columnParameters: metadataPrefilter === null ? [] : [likePattern(metadataPrefilter)],
        where: `created_at >= ? and created_at < ? and created_at <= ? and (created_at, id) < (?, ?) ${commentCondition(filter)}`,
        parameters: [filter.since, filter.until ?? end, at, at, id],
        order: 'desc',
        limit: searchedSize,
      })
      const last = rows.length < searchedSize ? undefined : rows.at(-1)
      return {
        matches: rows
          .map(toStoredSignal)
          .filter((signal) => (value === null || signal.value === value) && content.matches(signal)),
        examined: rows.length,
        last: last === undefined ? null : { at: last.created_at as number, id: last.id as number },
      }
    },

    usedInMonth: (organisationId, at) => usedInMonth(database, organisationId, at),
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

/** Matches the partial index on comments. With a version, the index on versions is better. */
function commentCondition({ versions = null, content = null }: SignalFilter): string {
  return content?.needsComment && versions === null ? 'and comment is not null' : ''
}

/** As many signals as have the size of a batch, if they have as much metadata as these. */
function batchSizeAfter(signals: StoredSignal[]): number {
  const characters = signals.reduce((sum, { metadata }) => sum + (metadata?.length ?? 0), 0)
  return Math.max(
    firstBatchSize,
    Math.min(maxBatchSize, Math.floor((batchCharacters * signals.length) / (characters + 1))),
  )
}
