import type { HistoryEntry } from '../../domain/history/entry.ts'
import { pageOffset } from '../../domain/page.ts'
import type { Prompt } from '../../domain/prompt.ts'
import type { ListedShift, Range, ShiftCause, ShiftStore, StoredShift } from '../../domain/shifts/shift.ts'
import { day, hourStart } from '../../domain/time.ts'
import { type Database, type Row, requireRow, statement, type TypedColumn, type Value } from './database.ts'
import { prefixedEntryColumns, toPrefixedEntry } from './history-rows.ts'
import { fromMillionths, toMillionths } from './millionths.ts'
import { decodeCandidates, encodeCandidates } from './shift-candidates.ts'

export const columns =
  'at, range_from, range_until, rate_before, rate_after, entry_id, shared_with, candidates, found_at'
const maxCounted = 1_000
const maxNearby = 10_000
// So many votes show a shift, if they come within a week after it.
const minVotes = 100
const votesForMs = 7 * day
const maxExact = 20
const maxToExplain = 200
// Longer ranges say little about the time.
const maxRangeMs = 31 * day

const insertedColumns: TypedColumn[] = [...typed('organisation_id', 'prompt_id'), ...typed(...columns.split(', '))]

function typed(...names: string[]): TypedColumn[] {
  return names.map((name) => ({ name, type: name === 'candidates' ? 'text' : 'bigint' }))
}

/** Whether the verdict on no change says that it caused the shift. */
export const hasNoChange = '(s.entry_id is null or s.candidates is not null)'

// A change that others share the shift of is not what explains it.
const hasCause: Record<ShiftCause, string> = {
  change: `not ${hasNoChange} and s.shared_with is null`,
  shared: 's.shared_with is not null',
  unexplained: `${hasNoChange} and s.shared_with is null`,
}

export function sqlShifts(database: Database): ShiftStore {
  /** The candidates of all these shifts, by their IDs. */
  async function candidateChanges(organisationId: number, shifts: StoredShift[]): Promise<Map<number, HistoryEntry>> {
    const ids = shifts.flatMap(({ candidates }) => candidates?.changes.map(({ entryId }) => entryId) ?? [])
    if (ids.length === 0) return new Map()
    const rows = await database.rows(
      `select ${prefixedEntryColumns('h', 'change')} from history_entries h where ${database.haveIds('h.')}`,
      [organisationId, JSON.stringify(ids)],
    )
    const entries = rows.map((row) => toPrefixedEntry(row, 'change') as HistoryEntry)
    return new Map(entries.map((entry) => [entry.id, entry]))
  }

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

    async page(organisationId, { promptIds, cause, since, foundSince }, request) {
      const conditions = [
        's.organisation_id = ?',
        ...(promptIds === null ? [] : [`s.prompt_id in ${database.jsonElements('bigint')}`]),
        ...(cause === null ? [] : [hasCause[cause]]),
        ...(since === null ? [] : ['s.at >= ?']),
        ...(foundSince === null ? [] : ['s.found_at >= ?']),
      ]
      const parameters = [
        organisationId,
        ...(promptIds === null ? [] : [JSON.stringify(promptIds)]),
        ...(since === null ? [] : [since]),
        ...(foundSince === null ? [] : [foundSince]),
      ]
      const existing = `shifts s join prompts p on p.organisation_id = s.organisation_id and p.id = s.prompt_id
        where ${conditions.join(' and ')} and p.deleted_at is null`
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
      const shifts = rows.map(toShift)
      const changes = await candidateChanges(organisationId, shifts)
      return {
        shifts: rows.map((row, i) => toListedShift(row, shifts[i] as StoredShift, changes)),
        totalCount: requireRow(counts).count as number,
      }
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

    async countOthers(prompt, ranges, now) {
      if (ranges.length === 0) return []
      const [near, overlap] = [nearby(prompt), overlapping(prompt)]
      const countOf = (condition: string) =>
        `(select count(*) from (select distinct s.prompt_id from ${overlap.sql} ${condition} limit ${maxCounted}) as counted)`
      const rows = await database.rows(
        `select place, ${countOf('')} as moved, ${countOf('and s.entry_id is null')} as unchanged,
           (select cast(coalesce(sum(width), 0) as bigint) from (
             select s.range_until - s.range_from + records.last - records.first as width from ${near.sql} limit ${maxNearby}
           ) as widths) as widths
         from ${database.jsonRecords(rangeColumns)}`,
        [...overlap.parameters, ...overlap.parameters, ...near.parameters, rangeRecords(ranges)],
      )
      const rowOf = new Map(rows.map((row) => [row.place, row]))
      return ranges.map(([first, last], place) => {
        const row = requireRow([rowOf.get(place) as Row])
        // Two ranges overlap by chance if one starts within the width of both together, out of the time that was searched.
        const searchedMs = Math.min(last + maxRangeMs, Math.max(last, now)) - (first - maxRangeMs)
        const expected = (row.widths as number) / searchedMs
        return { moved: row.moved as number, unchanged: row.unchanged as number, expected }
      })
    },

    async countVoted({ organisationId, id }, [from, until]) {
      // Those that were judged last, so that a large organisation does not take long.
      const recent = `select organisation_id, prompt_id from prompt_wander where organisation_id = ? and prompt_id <> ?
        order by judged_at desc, prompt_id limit ${maxCounted}`
      const rows = await database.rows(
        `with others as materialized (
           select p.id from (${recent}) as w join prompts p on p.organisation_id = w.organisation_id and p.id = w.prompt_id
           where p.deleted_at is null)
         select count(*) as count from (
           select prompt_id from hour_sums where organisation_id = ? and hour >= ? and hour < ?
             and prompt_id in (select id from others)
           group by prompt_id having sum(positive + negative) >= ${minVotes}) as voted`,
        [organisationId, id, organisationId, hourStart(from), until + votesForMs],
      )
      return requireRow(rows).count as number
    },

    async toExplainAgain(prompt, shifts) {
      if (shifts.length === 0) return []
      const { sql, parameters } = overlapping(prompt)
      const records = shifts.map(({ between: [first, last], moved, hasChange }, place) => {
        return { place, first, last, moved, has_change: Number(hasChange) }
      })
      // The exact number matters only while it is small: otherwise each prompt that moves would be news for all others.
      const isNews = `(records.has_change = 0 or s.entry_id is null) and (s.shared_with is null or (s.shared_with <> records.moved
        and (records.moved <= ${maxExact} or s.shared_with * 2 < records.moved or s.shared_with > records.moved * 2)))`
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

const rangeColumns: TypedColumn[] = typed('place', 'first', 'last')
const countColumns: TypedColumn[] = [...rangeColumns, ...typed('moved', 'has_change')]

function rangeRecords(ranges: Range[]): string {
  return JSON.stringify(ranges.map(([first, last], place) => ({ place, first, last })))
}

/** The shifts of other prompts around a range in `records`. The time limits what the index has to return. */
function nearby({ organisationId, id }: Prompt): { sql: string; parameters: Value[] } {
  return {
    sql: `shifts s join prompts p on p.organisation_id = s.organisation_id and p.id = s.prompt_id
      where s.organisation_id = ? and s.at >= records.first - ${maxRangeMs} and s.at <= records.last + ${maxRangeMs}
        and s.prompt_id <> ? and p.deleted_at is null`,
    parameters: [organisationId, id],
  }
}

/** Those that overlap with it. */
function overlapping(prompt: Prompt): { sql: string; parameters: Value[] } {
  const { sql, parameters } = nearby(prompt)
  return { sql: `${sql} and s.range_from <= records.last and s.range_until >= records.first`, parameters }
}

function fromShift(shift: StoredShift): Record<string, Value> {
  return {
    at: shift.at,
    range_from: shift.between[0],
    range_until: shift.between[1],
    rate_before: toMillionths(shift.rateBefore),
    rate_after: toMillionths(shift.rateAfter),
    entry_id: shift.entryId,
    shared_with: shift.sharedWith,
    candidates: shift.candidates === null ? null : encodeCandidates(shift.candidates),
    found_at: shift.foundAt,
  }
}

export function toShift(row: Row): StoredShift {
  return {
    at: row.at as number,
    between: rangeOf(row),
    rateBefore: fromMillionths(row.rate_before),
    rateAfter: fromMillionths(row.rate_after),
    entryId: row.entry_id as number | null,
    sharedWith: row.shared_with as number | null,
    candidates: row.candidates === null ? null : decodeCandidates(row.candidates as string),
    foundAt: row.found_at as number,
  }
}

function rangeOf(row: Row): Range {
  return [row.range_from as number, row.range_until as number]
}

function toListedShift(row: Row, shift: StoredShift, changes: Map<number, HistoryEntry>): ListedShift {
  const candidates = shift.sharedWith === null ? (shift.candidates?.changes ?? []) : []
  return {
    ...shift,
    prompt: { publicId: row.public_id as string, name: row.name as string },
    change: toPrefixedEntry(row, 'change'),
    candidateChanges: candidates.flatMap(({ entryId, share }) => {
      const change = changes.get(entryId)
      return change === undefined ? [] : [{ change, share }]
    }),
  }
}
