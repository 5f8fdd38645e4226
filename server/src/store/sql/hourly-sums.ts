import { createBoundedMap } from '../../domain/bounded-map.ts'
import type { Span } from '../../domain/signals/interval.ts'
import { maxVersions, type SignalStore } from '../../domain/signals/signal.ts'
import { type HourlySums, noSums } from '../../domain/signals/tally.ts'
import { type Clock, day, hour, hourStart, type Instant, nextTurn } from '../../domain/time.ts'
import type { ColumnTypes, Database, Row, Value } from './database.ts'
import { closedUntil, revisionOf } from './hour-revisions.ts'

// Eleven years of hours are read one by one, and older ones by day, so that their number has a bound.
const maxHours = 100_000
const maxRecentHours = 20_000

const recordColumns: ColumnTypes = { place: 'bigint', prompt: 'bigint' }
const spanColumns: ColumnTypes = { ...recordColumns, first: 'bigint', last: 'bigint' }
const versionColumns: ColumnTypes = { ...spanColumns, version: 'text' }
const aroundColumns: ColumnTypes = {
  ...recordColumns,
  before_from: 'bigint',
  before_until: 'bigint',
  after_from: 'bigint',
  after_until: 'bigint',
}

// Of days that are over. An hour takes 24 bytes, so this is 12 MB: a whole year of 57 prompts, or 500 prompts of lists.
const maxRememberedHours = 500_000
// What a list without hours takes, in hours.
const entryWeight = 20

// SQLite blocks the process during a read: 1,000 hours of each of 20 prompts take about 10 ms.
const maxPromptsAtOnce = 20

interface Around {
  before: HourlySums
  after: HourlySums
}

type HourlyReads = Pick<
  SignalStore,
  | 'hourlySums'
  | 'hourlySumsAround'
  | 'hourlySumsOfVersions'
  | 'versionedHourlySums'
  | 'versionNames'
  | 'versionNamesSince'
>

/** Reads hourly sums. Each list is one row of JSON: a row per hour would take both drivers three times as long. */
export function sqlHourlySums(database: Database, clock: Clock): HourlyReads {
  const { jsonArray, jsonRecords } = database
  const lists = `${jsonArray(`hour / ${hour}`)} as hours, ${jsonArray('positive')} as positive, ${jsonArray('negative')} as negative`
  const columns = 'hour, positive, negative'
  const triples = `string_agg((hour / ${hour}) || ',' || positive || ',' || negative, ',')`

  // By prompt, end and revision: the sums stay right as long as these are the same.
  const closedSums = createBoundedMap<HourlySums>(maxRememberedHours)
  const closedAround = createBoundedMap<Around>(maxRememberedHours)
  // With those of today, by the same keys. While these are the same too, so is the result, and what was computed from it.
  const joinedSums = createBoundedMap<{ open: string; sums: HourlySums }>(maxRememberedHours)

  function joinOnce(key: string, open: string, join: () => HourlySums): HourlySums {
    const last = joinedSums.get(key)
    if (last?.open === open) return last.sums
    const sums = join()
    joinedSums.set(key, { open, sums }, entryWeight + sums.start.length)
    return sums
  }

  async function readClosed(organisationId: number, id: number, until: Instant): Promise<HourlySums> {
    const cut = Math.max(0, until - maxHours * hour)
    const ofPrompt = 'hour_sums where organisation_id = ? and prompt_id = ?'
    const [[recent], [old]] = await Promise.all([
      database.rows(
        `select ${lists} from (
           select ${columns} from ${ofPrompt} and hour >= ? and hour < ? order by hour) as ordered`,
        [organisationId, id, cut, until],
      ),
      database.rows(
        `select ${lists} from (
           select hour - hour % ${day} as hour, sum(positive) as positive, sum(negative) as negative
           from ${ofPrompt} and hour < ? group by 1 order by 1) as ordered`,
        [organisationId, id, cut],
      ),
    ])
    return joined(unpack(old), unpack(recent))
  }

  /** The last hours of the span before, and the first ones of the span after, with the revision of the prompt. */
  async function readAround(
    organisationId: number,
    spans: { promptId: number; before: Span; after: Span }[],
    limit: number,
  ): Promise<(Around & { revision: number; text: string })[]> {
    if (spans.length === 0) return []
    const records = spans.map(({ promptId, before, after }, place) => ({
      place,
      prompt: promptId,
      before_from: before.from,
      before_until: before.until,
      after_from: after.from,
      after_until: after.until,
    }))
    // One of the two is mostly empty: today is after the last change of a prompt. PostgreSQL would open two tables for it.
    const part = (span: 'before' | 'after', order: 'asc' | 'desc') =>
      `case when records.${span}_from < records.${span}_until then (select ${triples} from (${database.firstHourSums(
        `organisation_id = ? and prompt_id = records.prompt
          and hour >= records.${span}_from and hour < records.${span}_until`,
        `order by hour ${order}`,
        limit,
      )}) as part) end`
    const ofOrganisation = `select place, ${revisionOf('records.prompt')} as revision, ${part('before', 'desc')} as before,
         ${part('after', 'asc')} as after`
    const rows = await database.rows(`${ofOrganisation} from ${jsonRecords(aroundColumns)}`, [
      // The organisation is a parameter of each table, never a column: Citus could not tell which worker has the rows.
      ...Array.from(ofOrganisation.matchAll(/\?/g), () => organisationId),
      JSON.stringify(records),
    ])
    const byPlace = new Map(rows.map((row) => [row.place, row]))
    return spans.map((_, i) => {
      const row = byPlace.get(i)
      const before = reversed(unpackTriples(row?.before))
      const [revision, text] = [(row?.revision as number | undefined) ?? 0, `${row?.before} ${row?.after}`]
      return { revision, text, before, after: unpackTriples(row?.after) }
    })
  }

  return {
    async hourlySums({ organisationId, id }, until) {
      const end = closedUntil(clock())
      // The revision is read first. If the sums change after that, they are remembered for a revision that is over already.
      const [open] = await database.rows(
        `select ${revisionOf('?')} as revision, ${lists} from (
           select ${columns} from hour_sums where organisation_id = ? and prompt_id = ? and hour >= ? and hour < ?
           order by hour) as ordered`,
        [organisationId, id, organisationId, id, end, until],
      )
      const key = `${organisationId} ${id} ${end} ${open?.revision}`
      let closed = closedSums.get(key)
      if (closed === undefined) {
        closed = await readClosed(organisationId, id, end)
        closedSums.set(key, closed, entryWeight + closed.start.length)
      }
      if (until < end) return upTo(closed, until)
      const past = closed
      return joinOnce(key, `${open?.hours} ${open?.positive} ${open?.negative}`, () => joined(past, unpack(open)))
    },

    async hourlySumsAround(organisationId, instants, limit) {
      const end = closedUntil(clock())
      const starts = instants.map(({ promptId, at }) => ({ promptId, at: hourStart(at) }))
      const open = await readAround(
        organisationId,
        starts.map(({ promptId, at }) => ({
          promptId,
          before: { from: end, until: at },
          after: { from: Math.max(at, end), until: Number.MAX_SAFE_INTEGER },
        })),
        limit,
      )
      const keys = starts.map(({ promptId, at }, i) => {
        return `${organisationId} ${promptId} ${at} ${limit} ${end} ${open[i]?.revision}`
      })
      const closed = keys.map((key) => closedAround.get(key))
      const missing = starts.flatMap((start, i) => (closed[i] === undefined ? [{ ...start, i }] : []))
      for (let first = 0; first < missing.length; first += maxPromptsAtOnce) {
        const group = missing.slice(first, first + maxPromptsAtOnce)
        const read = await readAround(
          organisationId,
          group.map(({ promptId, at }) => ({
            promptId,
            before: { from: 0, until: Math.min(at, end) },
            after: { from: at, until: end },
          })),
          limit,
        )
        for (const [place, { before, after }] of read.entries()) {
          const { i } = group[place] as { i: number }
          closed[i] = { before, after }
          closedAround.set(keys[i] as string, { before, after }, entryWeight + before.start.length + after.start.length)
        }
        await nextTurn()
      }
      return open.map((since, i) =>
        joinOnce(keys[i] as string, since.text, () => {
          const of = closed[i] as Around
          const before = joined(of.before, since.before)
          return joined(
            slice(before, Math.max(0, before.start.length - limit), before.start.length),
            slice(joined(of.after, since.after), 0, limit),
          )
        }),
      )
    },

    async hourlySumsOfVersions(organisationId, versions) {
      if (versions.length === 0) return []
      const records = versions.map(({ promptId, version, from, until }, place) => ({
        place,
        prompt: promptId,
        version,
        first: from,
        last: until,
      }))
      // The cross join makes SQLite look up each version, whatever its row estimates.
      const rows = await database.rows(
        `select place, ${lists} from (
           select place, ${columns} from ${jsonRecords(versionColumns)} cross join version_sums
           where organisation_id = ? and prompt_id = prompt and version_sums.version = records.version
             and hour >= records.first and hour < records.last
           order by place, hour) as ordered group by place`,
        [JSON.stringify(records), organisationId],
      )
      const found = new Map(rows.map((row) => [row.place as number, unpack(row)]))
      return versions.map((_, i) => found.get(i) ?? noSums)
    },

    async versionedHourlySums(organisationId, spans) {
      if (spans.length === 0) return []
      const records = spans.map(({ promptId, from, until }, place) => ({
        place,
        prompt: promptId,
        first: hourStart(from),
        last: until,
      }))
      // A subquery for each span, so that PostgreSQL looks it up by index, whatever its row estimates.
      const rows = await database.rows(
        `select place, (
           select ${triples} from (
             select hour, sum(positive) as positive, sum(negative) as negative from version_sums
             where organisation_id = ? and prompt_id = records.prompt and hour >= records.first and hour < records.last
             group by hour order by hour) as ordered) as sums
         from ${jsonRecords(spanColumns)}`,
        [organisationId, JSON.stringify(records)],
      )
      const found = new Map(rows.map((row) => [row.place as number, unpackTriples(row.sums)]))
      return spans.map((_, i) => found.get(i) ?? noSums)
    },

    async versionNames({ organisationId, id }) {
      // Jumps from one version to the next in the index, instead of reading all hours of each.
      const next = (condition: string) =>
        `(select min(version) from version_sums where organisation_id = ? and prompt_id = ? ${condition})`
      const [row] = await database.rows(
        `with recursive found(version) as (
           select ${next('')}
           union all select ${next('and version > found.version')} from found where found.version is not null)
         select ${jsonArray('version')} as names from (
           select version from found where version is not null limit ${maxVersions + 1}) as named`,
        [organisationId, id, organisationId, id],
      )
      return JSON.parse((row?.names as string | null) ?? '[]') ?? []
    },

    async versionNamesSince({ organisationId, id }, since) {
      const [row] = await database.rows(
        `select sum(hours) as hours, ${jsonArray('version')} as names from (
           select version, count(*) as hours from (
             select version from version_sums where organisation_id = ? and prompt_id = ? and hour >= ?
             limit ${maxRecentHours + 1}) as recent
           group by version) as named`,
        [organisationId, id, hourStart(since)],
      )
      if (((row?.hours as number | null) ?? 0) > maxRecentHours) return null
      return JSON.parse((row?.names as string | null) ?? '[]') ?? []
    },
  }
}

function unpack(row: Row | undefined): HourlySums {
  const list = (value: Value | undefined): number[] => (typeof value === 'string' ? JSON.parse(value) : []) ?? []
  const start = list(row?.hours)
  for (let i = 0; i < start.length; i++) start[i] = (start[i] as number) * hour
  return addUp({ start, positive: list(row?.positive), negative: list(row?.negative) })
}

/** On PostgreSQL, an hour can have several rows. They are in order, so they follow each other. */
function addUp(sums: HourlySums): HourlySums {
  const { start, positive, negative } = sums
  let last = 0
  for (let i = 1; i < start.length; i++) {
    if (start[i] === start[last]) {
      positive[last] = (positive[last] as number) + (positive[i] as number)
      negative[last] = (negative[last] as number) + (negative[i] as number)
    } else if (++last < i) {
      for (const list of [start, positive, negative]) list[last] = list[i] as number
    }
  }
  for (const list of [start, positive, negative]) list.length = Math.min(list.length, last + 1)
  return sums
}

function unpackTriples(text: Value | undefined): HourlySums {
  const numbers: number[] = typeof text === 'string' ? JSON.parse(`[${text}]`) : []
  const sums: HourlySums = { start: [], positive: [], negative: [] }
  for (let i = 0; i < numbers.length; i += 3) {
    sums.start.push((numbers[i] as number) * hour)
    sums.positive.push(numbers[i + 1] as number)
    sums.negative.push(numbers[i + 2] as number)
  }
  return addUp(sums)
}

function reversed({ start, positive, negative }: HourlySums): HourlySums {
  return { start: start.reverse(), positive: positive.reverse(), negative: negative.reverse() }
}

function joined(a: HourlySums, b: HourlySums): HourlySums {
  if (a.start.length === 0) return b
  if (b.start.length === 0) return a
  return {
    start: a.start.concat(b.start),
    positive: a.positive.concat(b.positive),
    negative: a.negative.concat(b.negative),
  }
}

function slice(sums: HourlySums, from: number, until: number): HourlySums {
  const { start, positive, negative } = sums
  if (from === 0 && until >= start.length) return sums
  return {
    start: start.slice(from, until),
    positive: positive.slice(from, until),
    negative: negative.slice(from, until),
  }
}

function upTo(sums: HourlySums, until: Instant): HourlySums {
  const end = sums.start.findIndex((start) => start >= until)
  return end < 0 ? sums : slice(sums, 0, end)
}
