import { pageOffset } from '../../domain/page.ts'
import type { Prompt } from '../../domain/prompt.ts'
import type { ListedShift, Range, ShiftStore, StoredShift } from '../../domain/shifts/shift.ts'
import { day } from '../../domain/time.ts'
import { type Database, type Row, requireRow, statement, type TypedColumn, type Value } from './database.ts'
import { prefixedEntryColumns, toPrefixedEntry } from './history-rows.ts'
import { fromMillionths, toMillionths } from './millionths.ts'

const columns = 'at, range_from, range_until, rate_before, rate_after, entry_id, shared_with'
const maxCounted = 1_000
const maxExact = 20
const maxToExplain = 200
// Longer ranges say little about the time.
const maxRangeMs = 31 * day

const insertedColumns: TypedColumn[] = [
  { name: 'organisation_id', type: 'bigint' },
  { name: 'prompt_id', type: 'bigint' },
  ...columns.split(', ').map((name): TypedColumn => ({ name, type: 'bigint' })),
]

export function sqlShifts(database: Database): ShiftStore {
  return {
    async ofPrompt({ organisationId, id }) {
      const sql = `select ${columns} from shifts where organisation_id = ? and prompt_id = ? order by at`
      return (await database.rows(sql, [organisationId, id])).map(toShift)
    },

    async replace({ organisationId, id }, shifts) {
      const rows = shifts.map((shift) => ({ organisation_id: organisationId, prompt_id: id, ...fromShift(shift) }))
      await database.write([
        statement('delete from shifts where organisation_id = ? and prompt_id = ?', [organisationId, id]),
        ...database.insertRows({
          table: 'shifts',
          columns: insertedColumns,
          rows,
          // Two processes that judge the prompt at the same time find the same shifts.
          onConflict: 'on conflict (organisation_id, prompt_id, at) do nothing',
        }),
      ])
    },

    async page(organisationId, promptIds, request) {
      const limited = promptIds === null ? '' : `and s.prompt_id in ${database.jsonElements('bigint')}`
      const parameters = [organisationId, ...(promptIds === null ? [] : [JSON.stringify(promptIds)])]
      const existing = `shifts s join prompts p on p.organisation_id = s.organisation_id and p.id = s.prompt_id
        where s.organisation_id = ? ${limited} and p.deleted_at is null`
      const [counts, rows] = await Promise.all([
        database.rows(`select count(*) as count from ${existing}`, parameters),
        database.rows(
          `select page.*, ${prefixedEntryColumns('h', 'change')} from (
             select s.organisation_id, p.public_id, p.name, s.prompt_id, ${columns.replaceAll(/\w+/g, 's.$&')} from ${existing}
             order by s.at desc, s.prompt_id limit ? offset ?) as page
           left join history_entries h on h.organisation_id = page.organisation_id and h.id = page.entry_id
           order by page.at desc, page.prompt_id`,
          [...parameters, request.limit, pageOffset(request)],
        ),
      ])
      return { shifts: rows.map(toListedShift), totalCount: requireRow(counts).count as number }
    },

    async shared(organisationId, promptIds) {
      if (promptIds.length === 0) return new Map()
      const rows = await database.rows(
        `select prompt_id, range_from, range_until, shared_with from shifts
         where organisation_id = ? and ${database.inJsonArray('prompt_id', 'bigint')} and shared_with is not null`,
        [organisationId, JSON.stringify(promptIds)],
      )
      const shifts = rows.map((row) => ({
        promptId: row.prompt_id as number,
        between: rangeOf(row),
        sharedWith: row.shared_with as number,
      }))
      return Map.groupBy(shifts, ({ promptId }) => promptId)
    },

    async countOthers(prompt, ranges) {
      if (ranges.length === 0) return []
      const { sql, parameters } = overlapping(prompt)
      const rows = await database.rows(
        `select place, (select count(*) from (select distinct s.prompt_id from ${sql} limit ${maxCounted}) as moved) as count
         from ${database.jsonRecords(rangeColumns)}`,
        [...parameters, rangeRecords(ranges)],
      )
      const counts = new Map(rows.map((row) => [row.place, row.count as number]))
      return ranges.map((_, place) => counts.get(place) ?? 0)
    },

    async toExplainAgain(prompt, ranges) {
      if (ranges.length === 0) return []
      const { sql, parameters } = overlapping(prompt)
      const records = ranges.map(({ between: [first, last], count }, place) => ({ place, first, last, count }))
      // The exact number matters only while it is small: otherwise each prompt that moves would be news for all others.
      const isNews = `s.shared_with is null or (s.shared_with <> records.count
        and (records.count <= ${maxExact} or s.shared_with * 2 < records.count or s.shared_with > records.count * 2))`
      const rows = await database.rows(
        `select distinct other from (
           select records.place, s.prompt_id as other from ${database.jsonRecords(countColumns)} cross join ${sql} and (${isNews})
         ) as news limit ${maxToExplain}`,
        [JSON.stringify(records), ...parameters],
      )
      return rows.map((row) => row.other as number)
    },
  }
}

const rangeColumns: TypedColumn[] = ['place', 'first', 'last'].map((name) => ({ name, type: 'bigint' }))
const countColumns: TypedColumn[] = [...rangeColumns, { name: 'count', type: 'bigint' }]

function rangeRecords(ranges: Range[]): string {
  return JSON.stringify(ranges.map(([first, last], place) => ({ place, first, last })))
}

/** The shifts of other prompts that overlap with a range in `records`. The time limits what the index has to return. */
function overlapping({ organisationId, id }: Prompt): { sql: string; parameters: Value[] } {
  return {
    sql: `shifts s join prompts p on p.organisation_id = s.organisation_id and p.id = s.prompt_id
      where s.organisation_id = ? and s.at >= records.first - ${maxRangeMs} and s.at <= records.last + ${maxRangeMs}
        and s.range_from <= records.last and s.range_until >= records.first and s.prompt_id <> ? and p.deleted_at is null`,
    parameters: [organisationId, id],
  }
}

function fromShift({ at, between, rateBefore, rateAfter, entryId, sharedWith }: StoredShift): Record<string, Value> {
  return {
    at,
    range_from: between[0],
    range_until: between[1],
    rate_before: toMillionths(rateBefore),
    rate_after: toMillionths(rateAfter),
    entry_id: entryId,
    shared_with: sharedWith,
  }
}

function toShift(row: Row): StoredShift {
  return {
    at: row.at as number,
    between: rangeOf(row),
    rateBefore: fromMillionths(row.rate_before),
    rateAfter: fromMillionths(row.rate_after),
    entryId: row.entry_id as number | null,
    sharedWith: row.shared_with as number | null,
  }
}

function rangeOf(row: Row): Range {
  return [row.range_from as number, row.range_until as number]
}

function toListedShift(row: Row): ListedShift {
  return {
    ...toShift(row),
    prompt: { publicId: row.public_id as string, name: row.name as string },
    change: toPrefixedEntry(row, 'change'),
  }
}
