import type { HistoryEntry } from '../../domain/history/entry.ts'
import { pageOffset } from '../../domain/page.ts'
import type { Prompt } from '../../domain/prompt.ts'
import type { RegressionState } from '../../domain/regressions/regression.ts'
import {
  type KnownShift,
  type ListedShift,
  type Range,
  type ShiftCause,
  type ShiftStore,
  type StoredShift,
  shiftIdAt,
} from '../../domain/shifts/shift.ts'
import { day, hourStart } from '../../domain/time.ts'
import { auditEntry } from './audit-chain.ts'
import {
  type ColumnTypes,
  countRows,
  type Database,
  type Row,
  requireRow,
  type Statement,
  statement,
  type Value,
} from './database.ts'
import { prefixedEntryColumns, toPrefixedEntry } from './history-rows.ts'
import { fromMillionths, toMillionths } from './millionths.ts'
import { decodeCandidates, encodeCandidates } from './shift-candidates.ts'
import { nameOfKey, readSteps, toTriaged, triageColumns, triageStatement } from './triage.ts'

export const columns =
  'shift_id, prompt_id, at, range_from, range_until, rate_before, rate_after, entry_id, shared_with, candidates, found_at'
// As a person saw it.
const knownColumns = 'shift_id, prompt_id, at, range_from, range_until, rate_before, rate_after, found_at'
const maxCounted = 1_000
const maxNearby = 10_000
// So many votes show a shift, if they come within a week after it.
const minVotes = 100
const votesForMs = 7 * day
const maxExact = 20
const maxToExplain = 200
// Longer ranges say little about the time.
const maxRangeMs = 31 * day

/** Whether the verdict on no change says that it caused the shift. */
const hasNoChange = '(s.entry_id is null or s.candidates is not null)'

// A change that others share the shift of is not what explains it.
const hasCause: Record<ShiftCause, string> = {
  change: `not ${hasNoChange} and s.shared_with is null`,
  shared: 's.shared_with is not null',
  unexplained: `${hasNoChange} and s.shared_with is null`,
}

const maxDecided = 100
// As for regressions: half of the way back, and at most ten points from where it was.
const movedBack = `(select min(x.at) from shifts x where x.organisation_id = s.organisation_id and x.prompt_id = s.prompt_id and x.at > s.at
  and case when s.rate_after < s.rate_before then 2 * x.rate_after > s.rate_before + s.rate_after and x.rate_after > s.rate_before - 100000
    else 2 * x.rate_after < s.rate_before + s.rate_after and x.rate_after < s.rate_before + 100000 end)`
/** Whether no change explains it. */
export const isForPeople = `(${hasNoChange} or s.shared_with is not null)`
const isInState: Record<Exclude<RegressionState, 'withdrawn'>, string> = {
  open: `${isForPeople} and t.dismissed_at is null and ${movedBack} is null`,
  repaired: `${isForPeople} and t.dismissed_at is null and ${movedBack} is not null`,
  dismissed: `${isForPeople} and t.dismissed_at is not null`,
}
/** What people decided about a shift `s`. */
export const withTriage =
  'left join shift_triage t on t.organisation_id = s.organisation_id and t.prompt_id = s.prompt_id and t.shift_id = s.shift_id'
/** The author of the only change that may have caused it: see `suspectOf`. */
export const suspectEmail = `case when s.shared_with is null and s.candidates like '{"count":1,%' then h.user_email end`

export const withChange = 'left join history_entries h on h.organisation_id = s.organisation_id and h.id = s.entry_id'

/** Those that people took care of, and that the judge no longer finds, in the form of `shifts`. */
const withdrawn = `(select d.organisation_id, ${knownColumns.replaceAll(/\w+/g, 'd.$&')}, cast(null as bigint) as entry_id,
    cast(null as bigint) as shared_with, cast(null as text) as candidates
  from shift_triage d where not exists (select 1 from shifts c
    where c.organisation_id = d.organisation_id and c.prompt_id = d.prompt_id and c.shift_id = d.shift_id))`

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

  /** The shifts of a query for their rows, with everything that is said about them. */
  async function listed(
    organisationId: number,
    sql: string,
    parameters: Value[],
    isFound: boolean,
  ): Promise<ListedShift[]> {
    const rows = await database.rows(
      `select s.*, ${triageColumns.replaceAll(/\w+/g, 't.$&')}, ${movedBack} as repaired_at, ${prefixedEntryColumns('h', 'change')}
       from (${sql}) as s ${withTriage} ${withChange} order by s.at desc, s.prompt_id`,
      parameters,
    )
    const shifts = rows.map(toShift)
    const changes = await candidateChanges(organisationId, shifts)
    return rows.map((row, i) => toListedShift(row, shifts[i] as StoredShift, changes, isFound))
  }

  async function find({ organisationId, id: promptId }: Prompt, id: string): Promise<ListedShift | null> {
    // Those of an earlier version have no ID in their row. There are few of a prompt.
    const ofPrompt = (table: string) =>
      `select s.organisation_id, p.public_id, p.name, ${columns.replaceAll(/\w+/g, 's.$&')} from ${table} s
       join prompts p on p.organisation_id = s.organisation_id and p.id = s.prompt_id
       where s.organisation_id = ? and s.prompt_id = ? and p.deleted_at is null`
    const found = await listed(organisationId, ofPrompt('shifts'), [organisationId, promptId], true)
    const current = found.find((shift) => shift.id === id)
    if (current !== undefined) return current
    const sql = `${ofPrompt(withdrawn)} and s.shift_id = ?`
    const [gone = null] = await listed(organisationId, sql, [organisationId, promptId, id], false)
    return gone
  }

  /** Stores a decision about an open shift, and the shift as it is now, which the judge may no longer find tomorrow. */
  async function decide(prompt: Prompt, id: string, decision: Statement): Promise<ListedShift | 'closed' | null> {
    const shift = await find(prompt, id)
    if (shift === null) return null
    if (shift.state !== 'open') return 'closed'
    const { organisationId, id: promptId } = prompt
    const names = knownColumns.split(', ')
    const row: Record<string, Value> = { prompt_id: promptId, ...fromShift(shift) }
    const [, , rows = []] = await database.write([
      statement(
        `insert into shift_triage (organisation_id, ${knownColumns}) values (?, ${names.map(() => '?').join(', ')})
         on conflict (organisation_id, shift_id) do update set ${names.map((name) => `${name} = excluded.${name}`).join(', ')}`,
        [organisationId, ...names.map((name) => row[name] as Value)],
      ),
      statement(
        'update shifts set shift_id = ? where organisation_id = ? and prompt_id = ? and at = ? and shift_id is null',
        [id, organisationId, promptId, shift.at],
      ),
      decision,
    ])
    return rows.length === 0 ? 'closed' : find(prompt, id)
  }

  return {
    async ofPrompt({ organisationId, id, publicId }) {
      const sql = `select ${columns} from shifts where organisation_id = ? and prompt_id = ? order by at`
      return (await database.rows(sql, [organisationId, id])).map((row) => toShift({ ...row, public_id: publicId }))
    },

    async decided({ organisationId, id }) {
      const sql = `select ${knownColumns} from shift_triage where organisation_id = ? and prompt_id = ? order by at desc limit ${maxDecided}`
      return (await database.rows(sql, [organisationId, id])).map(toKnownShift)
    },

    async replace({ organisationId, id }, shifts) {
      const rows = shifts.map((shift) => ({ organisation_id: organisationId, prompt_id: id, ...fromShift(shift) }))
      await database.write([
        statement('delete from shifts where organisation_id = ? and prompt_id = ?', [organisationId, id]),
        ...database.insertRows({
          table: 'shifts',
          rows,
          // Two processes that judge the prompt at the same time find the same shifts.
          onConflict: 'on conflict (organisation_id, prompt_id, at) do nothing',
        }),
      ])
    },

    find,

    triage: (prompt, id, triage, at, by) =>
      decide(prompt, id, triageStatement({ kind: 'shift', id, prompt }, 'dismissed_at is null', triage, at, by)),

    async dismiss(prompt, id, note, at, by) {
      const { organisationId, publicId, name } = prompt
      const dismissed = await decide(prompt, id, {
        ...statement(
          `update shift_triage set dismissed_at = ?, key_id = ?, key_name = ${nameOfKey}, note = ?
           where organisation_id = ? and prompt_id = ? and shift_id = ? and dismissed_at is null returning shift_id`,
          [at, by.keyId, by.keyId, note, organisationId, prompt.id, id],
        ),
        andThen: (rows) =>
          rows.map(() => {
            const details = { prompt: publicId, note }
            return auditEntry({ organisationId, by, at, action: 'shift.dismissed', subject: { id, name }, details })
          }),
      })
      if (dismissed !== 'closed') return dismissed
      const known = await find(prompt, id)
      return known?.state === 'dismissed' ? known : 'closed'
    },

    steps: (organisationId, id) => readSteps(database, 'shift', organisationId, id),

    async page(organisationId, { promptIds, cause, since, foundSince, state = null, owner = null }, request) {
      const conditions = [
        's.organisation_id = ?',
        ...(promptIds === null ? [] : [`s.prompt_id in ${database.jsonElements('bigint')}`]),
        ...(cause === null ? [] : [hasCause[cause]]),
        ...(since === null ? [] : ['s.at >= ?']),
        ...(foundSince === null ? [] : ['s.found_at >= ?']),
        ...(state === null || state === 'withdrawn' ? [] : [isInState[state]]),
        ...(owner === null ? [] : [`${isForPeople} and lower(coalesce(t.owner, ${suspectEmail})) = ?`]),
      ]
      const parameters = [
        organisationId,
        ...(promptIds === null ? [] : [JSON.stringify(promptIds)]),
        ...(since === null ? [] : [since]),
        ...(foundSince === null ? [] : [foundSince]),
        ...(owner === null ? [] : [owner.toLowerCase()]),
      ]
      const isFound = state !== 'withdrawn'
      const decisions = state === null && owner === null ? '' : withTriage
      const suspects = owner === null ? '' : withChange
      const existing = `${isFound ? 'shifts' : withdrawn} s join prompts p on p.organisation_id = s.organisation_id and p.id = s.prompt_id
        ${decisions} ${suspects} where ${conditions.join(' and ')} and p.deleted_at is null`
      const [totalCount, shifts] = await Promise.all([
        countRows(database, existing, parameters),
        listed(
          organisationId,
          `select s.organisation_id, p.public_id, p.name, ${columns.replaceAll(/\w+/g, 's.$&')} from ${existing}
           order by s.at desc, s.prompt_id limit ? offset ?`,
          [...parameters, request.limit, pageOffset(request)],
          isFound,
        ),
      ])
      return { shifts, totalCount }
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

const rangeColumns: ColumnTypes = { place: 'bigint', first: 'bigint', last: 'bigint' }
const countColumns: ColumnTypes = { ...rangeColumns, moved: 'bigint', has_change: 'bigint' }

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

function fromShift(shift: Omit<StoredShift, 'id'> & { id?: string }): Record<string, Value> {
  return {
    shift_id: shift.id ?? null,
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

function toKnownShift(row: Row): KnownShift {
  return {
    id: (row.shift_id as string | null) ?? shiftIdAt(row.public_id as string, row.at as number),
    at: row.at as number,
    between: rangeOf(row),
    rateBefore: fromMillionths(row.rate_before),
    rateAfter: fromMillionths(row.rate_after),
    foundAt: row.found_at as number,
  }
}

/** A row without an ID needs the `public_id` of its prompt. */
export function toShift(row: Row): StoredShift {
  return {
    ...toKnownShift(row),
    entryId: row.entry_id as number | null,
    sharedWith: row.shared_with as number | null,
    candidates: row.candidates === null ? null : decodeCandidates(row.candidates as string),
  }
}

function rangeOf(row: Row): Range {
  return [row.range_from as number, row.range_until as number]
}

function toListedShift(
  row: Row,
  shift: StoredShift,
  changes: Map<number, HistoryEntry>,
  isFound: boolean,
): ListedShift {
  const triaged = toTriaged(row)
  const candidates = shift.sharedWith === null ? (shift.candidates?.changes ?? []) : []
  return {
    ...shift,
    ...triaged,
    state: isFound ? stateOf(shift, triaged.dismissedAt !== null, row.repaired_at !== null) : 'withdrawn',
    repairedAt: row.repaired_at as number | null,
    prompt: { publicId: row.public_id as string, name: row.name as string },
    change: toPrefixedEntry(row, 'change'),
    candidateChanges: candidates.flatMap(({ entryId, share }) => {
      const change = changes.get(entryId)
      return change === undefined ? [] : [{ change, share }]
    }),
  }
}

function stateOf({ entryId, sharedWith, candidates }: StoredShift, isDismissed: boolean, isBack: boolean) {
  if (sharedWith === null && entryId !== null && candidates === null) return null
  if (isDismissed) return 'dismissed'
  return isBack ? 'repaired' : 'open'
}
