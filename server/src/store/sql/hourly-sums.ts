import type { HourlySums } from '../../domain/signals/hourly-sums.ts'
import { noSums } from '../../domain/signals/hourly-sums.ts'
import type { SignalStore } from '../../domain/signals/signal.ts'
import { maxVersions } from '../../domain/signals/signal.ts'
import { day, hour, hourStart } from '../../domain/time.ts'
import type { Database, Row, TypedColumn, Value } from './database.ts'

// Eleven years of hours are read one by one, and older ones by day, so that their number has a bound.
const maxHours = 100_000
const maxRecentHours = 20_000

const recordColumns: TypedColumn[] = [
  { name: 'place', type: 'bigint' },
  { name: 'prompt', type: 'bigint' },
]
const spanColumns: TypedColumn[] = [
  ...recordColumns,
  { name: 'first', type: 'bigint' },
  { name: 'last', type: 'bigint' },
]
const versionColumns: TypedColumn[] = [...spanColumns, { name: 'version', type: 'text' }]
const aroundColumns: TypedColumn[] = [...recordColumns, { name: 'at', type: 'bigint' }]

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
export function sqlHourlySums(database: Database): HourlyReads {
  const { jsonArray, jsonRecords } = database
  const lists = `${jsonArray(`hour / ${hour}`)} as hours, ${jsonArray('positive')} as positive, ${jsonArray('negative')} as negative`
  const columns = 'hour, positive, negative'
  const triples = `string_agg((hour / ${hour}) || ',' || positive || ',' || negative, ',')`

  return {
    async hourlySums({ organisationId, id }, until) {
      const cut = Math.max(0, until - maxHours * hour)
      const ofPrompt = 'signal_hours where organisation_id = ? and prompt_id = ?'
      const [[recent], [old]] = await Promise.all([
        database.rows(
          `select ${lists} from (select ${columns} from ${ofPrompt} and hour >= ? and hour < ? order by hour) as ordered`,
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
    },

    async hourlySumsAround(organisationId, instants, limit) {
      if (instants.length === 0) return []
      const records = instants.map(({ promptId, at }, place) => ({ place, prompt: promptId, at: hourStart(at) }))
      const part = (condition: string, order: string) =>
        `(select ${triples} from (select ${columns} from signal_hours where organisation_id = ? and prompt_id = records.prompt
            and hour ${condition} records.at order by hour ${order} limit ${limit}) as part)`
      const rows = await database.rows(
        `select place, ${part('<', 'desc')} as before, ${part('>=', 'asc')} as after from ${jsonRecords(aroundColumns)}`,
        [organisationId, organisationId, JSON.stringify(records)],
      )
      const byPlace = new Map(rows.map((row) => [row.place, row]))
      return instants.map((_, i) => {
        const row = byPlace.get(i)
        return row === undefined ? noSums : joined(reversed(unpackTriples(row.before)), unpackTriples(row.after))
      })
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
           select place, ${columns} from ${jsonRecords(versionColumns)} cross join version_hours
           where organisation_id = ? and prompt_id = prompt and version_hours.version = records.version
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
             select hour, sum(positive) as positive, sum(negative) as negative from version_hours
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
        `(select min(version) from version_hours where organisation_id = ? and prompt_id = ? ${condition})`
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
             select version from version_hours where organisation_id = ? and prompt_id = ? and hour >= ?
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
  return { start, positive: list(row?.positive), negative: list(row?.negative) }
}

function unpackTriples(text: Value | undefined): HourlySums {
  const numbers: number[] = typeof text === 'string' ? JSON.parse(`[${text}]`) : []
  const sums: HourlySums = { start: [], positive: [], negative: [] }
  for (let i = 0; i < numbers.length; i += 3) {
    sums.start.push((numbers[i] as number) * hour)
    sums.positive.push(numbers[i + 1] as number)
    sums.negative.push(numbers[i + 2] as number)
  }
  return sums
}

function reversed({ start, positive, negative }: HourlySums): HourlySums {
  return { start: start.reverse(), positive: positive.reverse(), negative: negative.reverse() }
}

function joined(a: HourlySums, b: HourlySums): HourlySums {
  if (a.start.length === 0) return b
  return {
    start: [...a.start, ...b.start],
    positive: [...a.positive, ...b.positive],
    negative: [...a.negative, ...b.negative],
  }
}
