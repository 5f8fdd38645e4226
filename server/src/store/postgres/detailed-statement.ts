import type { SignalToRecord } from '../../domain/signals/signal.ts'
import { hourStart, type Instant, monthStart } from '../../domain/time.ts'
import type { Row, TypedColumn } from '../sql/database.ts'
import { changesClosed, increaseRevision } from '../sql/hour-revisions.ts'
import { addToSums } from '../sql/sum-changes.ts'
import type { Vote } from '../sql/vote.ts'
import { type BatchRow, batchInput, batchParameters } from './batch-columns.ts'
import { type ReservedUsage, reservedResult, reserveUsage } from './monthly-limit.ts'
import type { KnownKey } from './record-statement.ts'

/** A vote as it is stored, and whether retention has passed it. */
export interface StoredVote {
  vote: Vote
  /** The vote itself is as good as removed: the next one on this subject is a new one. */
  isExpired: boolean
}

/** A change of the raw row and the sums, and of the vote if the signal has a subject. */
export interface SignalChange {
  /** The last request on the subject, whose fields are stored. */
  signal: SignalToRecord
  /** Null if nothing is to be stored: a withdrawal of a vote that is not known. */
  after: Vote | null
  /** What the sums contain now. Null for a first vote. */
  before: Vote | null
  /** The stored vote that this change is based on. If another process has changed it, nothing is stored. */
  expected: StoredVote | null
  /** The request that counts towards the monthly limit. Null if none does. */
  counted: SignalToRecord | null
  keys: RequestKey[]
}

export interface RequestKey {
  key: string
  fingerprint: string
  /** The status of the response, null for 201. */
  status: number | null
  /** False if the request changes nothing: then the key is only looked up. */
  isStored: boolean
}

export interface DetailedResult {
  reserved: ReservedUsage[] | null
  /** `index` is the position among the keys of the change. */
  known: (KnownKey & { index: number })[] | null
  /** The votes that are not as expected, as they are now. */
  stale: { place: number; vote: Row | null }[] | null
}

const voteColumns = 'signal_id, vote_id, value, version, created_at, received_at'
const keptSince = '(select kept_since from signal_retention)'

const columns: TypedColumn[] = [
  { name: 'id', type: 'bigint' },
  { name: 'organisation_id', type: 'bigint' },
  { name: 'prompt_id', type: 'bigint' },
  { name: 'created_at', type: 'bigint' },
  { name: 'received_at', type: 'bigint' },
  { name: 'month', type: 'bigint' },
  { name: 'hour', type: 'bigint' },
  { name: 'month_limit', type: 'bigint' },
  { name: 'vote_id', type: 'bigint' },
  { name: 'counted', type: 'bigint' },
  { name: 'value', type: 'text' },
  { name: 'metadata', type: 'text' },
  { name: 'version', type: 'text' },
  { name: 'subject', type: 'text' },
  { name: 'voter', type: 'text' },
  { name: 'comment', type: 'text' },
  { name: 'trace_id', type: 'text' },
]

const replacedColumns: TypedColumn[] = [
  { name: 'expected', type: 'bigint' },
  { name: 'old_created_at', type: 'bigint' },
  { name: 'old_hour', type: 'bigint' },
  { name: 'row_change', type: 'text' },
  { name: 'old_value', type: 'text' },
  { name: 'old_version', type: 'text' },
]

const revisedColumns: TypedColumn[] = [{ name: 'changes_closed', type: 'bigint' }]

/** Which of the rarer kinds of changes a batch has. */
interface Kinds {
  /** Votes that replace others. */
  replaces: boolean
  /** Changes to the sums of days that are over. */
  revises: boolean
}

function inputColumns({ replaces, revises }: Kinds): TypedColumn[] {
  return [...columns, ...(replaces ? replacedColumns : []), ...(revises ? revisedColumns : [])]
}

const replacedRows = `updated as (
  update signals s set value = g.value, metadata = g.metadata, created_at = g.created_at, version = g.version,
    voter = g.voter, comment = g.comment, received_at = nullif(g.received_at, g.created_at), trace_id = g.trace_id
  from granted g
  where g.row_change = 'update' and s.organisation_id = g.organisation_id and s.prompt_id = g.prompt_id
    and s.created_at = g.old_created_at and s.id = g.id
),
deleted as (
  delete from signals s using granted g
  where g.row_change in ('delete', 'move') and s.organisation_id = g.organisation_id and s.prompt_id = g.prompt_id
    and s.created_at = g.old_created_at and s.id = g.id
),`

const removedVotes = `union all
  select organisation_id, prompt_id, old_version, old_hour, old_value, -1 from granted where old_value is not null`

const revisions = `revisions as (
  insert into hour_revisions (organisation_id, prompt_id, revision)
  select organisation_id, prompt_id, 1 from granted where changes_closed = 1 and (select count(*) from versions) is not null
  group by organisation_id, prompt_id order by organisation_id, prompt_id
  ${increaseRevision}
),`

const countedSums = `coalesce(sum(count) filter (where value = 'positive'), 0) as positive,
      coalesce(sum(count) filter (where value = 'negative'), 0) as negative`

const nextVotes = `next_votes as (
  update signal_subjects s set signal_id = g.id, vote_id = g.vote_id, value = g.value, version = g.version,
    created_at = g.created_at, received_at = g.received_at
  from granted g
  where g.vote_id is not null and g.expected is not null and s.organisation_id = g.organisation_id
    and s.prompt_id = g.prompt_id and s.subject = g.subject
),`

/**
 * Like `recordSql`, for signals with details. Votes on a subject are changed only if they are still as the caller expects: the
 * row of the vote is locked and compared first, so that the raw row, all sums and the vote change together or not at all.
 * Each statement below reads the tables as of its start; an expected vote was read before that, so its raw row is visible.
 * `versions` reads `hours`, and `revisions` reads `versions`, only to lock the rows of the tables in the same order as everyone else,
 * which prevents deadlocks.
 *
 * Most batches have only first votes of today. Without the parts for others, such a statement takes half as long.
 */
const recordDetailedSql = ({ replaces, revises }: Kinds) => `
with input as materialized (select * from ${batchInput(inputColumns({ replaces, revises }))}),
keys as materialized (
  select * from json_to_recordset($${inputColumns({ replaces, revises }).length + 1}) as keys (place bigint, index bigint,
    organisation_id bigint, key text, fingerprint text, signal_id bigint, created_at bigint, status bigint)
),
known as materialized (
  select keys.place, keys.index, k.fingerprint, k.signal_id, k.created_at, k.status
  from keys join idempotency_keys k on k.organisation_id = keys.organisation_id and k.key = keys.key
),
found as materialized (
  select i.place, vote.* from (
    select place, organisation_id, prompt_id, subject from input where subject is not null
    order by organisation_id, prompt_id, subject collate "C"
  ) i cross join lateral (
    select ${voteColumns} from signal_subjects s
    where s.organisation_id = i.organisation_id and s.prompt_id = i.prompt_id and s.subject = i.subject for update
  ) vote
),
stale as materialized (
  select place from input left join found using (place)
  where place not in (select place from known)
    and found.vote_id is distinct from ${replaces ? 'expected' : 'null'}
),
fresh as not materialized (
  select * from input where place not in (select place from known) and place not in (select place from stale)
),
counted as not materialized (select * from fresh where counted = 1),
${reserveUsage(`(
    select organisation_id, month, count(*) as signals, max(month_limit) as month_limit from counted
    group by organisation_id, month) as counts`)},
granted as materialized (
  select fresh.* from fresh left join reserved using (organisation_id, month)
  where fresh.counted = 0 or reserved.used is not null
),
inserted as (
  insert into signals (id, organisation_id, prompt_id, value, metadata, created_at, version, subject, voter, comment,
    received_at, trace_id)
  select id, organisation_id, prompt_id, value, metadata, created_at, version, subject, voter, comment,
    nullif(received_at, created_at), trace_id
  from granted where ${replaces ? "row_change in ('insert', 'move')" : 'value is not null'}
),
${replaces ? replacedRows : ''}
changes as materialized (
  select organisation_id, prompt_id, version, hour, value, 1 as count from granted where value is not null
  ${replaces ? removedVotes : ''}
),
hours as (
  ${addToSums(
    'signal_hours',
    `select * from (
    select organisation_id, prompt_id, hour, ${countedSums}
    from changes group by organisation_id, prompt_id, hour
  ) totals where positive <> 0 or negative <> 0 order by organisation_id, prompt_id, hour`,
  )}
  returning hour
),
versions as (
  ${addToSums(
    'version_hours',
    `select * from (
    select organisation_id, prompt_id, version, hour, ${countedSums}
    from changes where version is not null and (select count(*) from hours) is not null
    group by organisation_id, prompt_id, version, hour
  ) totals where positive <> 0 or negative <> 0 order by organisation_id, prompt_id, version collate "C", hour`,
  )}
  ${revises ? 'returning hour' : ''}
),
${revises ? revisions : ''}
first_votes as (
  insert into signal_subjects (organisation_id, prompt_id, subject, ${voteColumns})
  select organisation_id, prompt_id, subject, id, vote_id, value, version, created_at, received_at
  from granted where subject is not null and vote_id is not null ${replaces ? 'and expected is null' : ''}
  order by organisation_id, prompt_id, subject collate "C"
),
${replaces ? nextVotes : ''}
remembered as (
  insert into idempotency_keys (organisation_id, key, fingerprint, signal_id, created_at, status)
  select keys.organisation_id, key, fingerprint, signal_id, keys.created_at, status
  from keys join granted using (place) where signal_id is not null order by keys.organisation_id, key
)
select
  ${reservedResult},
  (select json_agg(json_build_object('place', place, 'index', index, 'id', signal_id, 'createdAt', created_at,
    'fingerprint', fingerprint, 'status', status)) from known) as known,
  (select json_agg(json_build_object('place', place, 'vote', case when found.signal_id is null then null else
    json_build_object('signal_id', found.signal_id, 'vote_id', found.vote_id, 'value', found.value, 'version', found.version,
      'created_at', found.created_at, 'received_at', found.received_at,
      'expired', greatest(found.received_at, found.created_at) < ${keptSince}) end))
    from stale left join found using (place)) as stale`

/** The votes on the given subjects, by `place`. */
export const findVotesSql = (condition: string) => `
select place, ${voteColumns}
from json_to_recordset($1) as input (place bigint, organisation_id bigint, prompt_id bigint, subject text)
  join signal_subjects using (organisation_id, prompt_id, subject) ${condition}`

export function toVotesJson(changes: SignalChange[]): string {
  return JSON.stringify(
    changes.map(({ signal }, place) => ({
      place,
      organisation_id: signal.organisationId,
      prompt_id: signal.promptId,
      subject: signal.details?.subject,
    })),
  )
}

const statements = new Map<string, string>()

function sqlFor(kinds: Kinds): string {
  const key = JSON.stringify(kinds)
  const sql = statements.get(key) ?? recordDetailedSql(kinds)
  statements.set(key, sql)
  return sql
}

/** The statement that stores these changes, and its parameters. */
export function detailedStatement(changes: SignalChange[], now: Instant): { sql: string; parameters: string[] } {
  const replaces = changes.some(({ expected, before }) => expected !== null || before !== null)
  const revises = changes.some((change) => isRevision(change, now))
  const rows = changes.map((change) => ({
    ...toInput(change),
    ...(replaces && toReplaced(change)),
    ...(revises && toRevised(change, now)),
  }))
  return {
    sql: sqlFor({ replaces, revises }),
    parameters: [...batchParameters(inputColumns({ replaces, revises }), rows), JSON.stringify(keyRows(changes))],
  }
}

/** The columns of `changeRows`. */
export const changeColumns = inputColumns({ replaces: true, revises: true })

/** The changes as rows of all columns. */
export function changeRows(changes: SignalChange[], now: Instant): BatchRow[] {
  return changes.map((change) => ({ ...toInput(change), ...toReplaced(change), ...toRevised(change, now) }))
}

/** The idempotency keys of all changes. `place` counts the changes from 1. */
export function keyRows(changes: SignalChange[]): BatchRow[] {
  return changes.flatMap(({ signal: { organisationId }, after, keys }, i) =>
    keys.map(({ key, fingerprint, status, isStored }, index) => ({
      place: i + 1,
      index,
      organisation_id: organisationId,
      key,
      fingerprint,
      signal_id: isStored ? (after?.signalId ?? null) : null,
      created_at: after?.createdAt ?? null,
      status,
    })),
  )
}

function toRevised(change: SignalChange, now: Instant): BatchRow {
  return { changes_closed: isRevision(change, now) ? 1 : 0 }
}

function isRevision({ after, before }: SignalChange, now: Instant): boolean {
  return [after, before].some((vote) => vote !== null && changesClosed(vote.occurredAt, now))
}

function toInput({ signal, after, counted }: SignalChange): BatchRow {
  const { organisationId, promptId, metadata, details } = signal
  const { createdAt, limit } = counted ?? signal
  const isStored = after !== null && after.value !== null
  return {
    id: after?.signalId,
    organisation_id: organisationId,
    prompt_id: promptId,
    created_at: after?.occurredAt,
    received_at: after?.createdAt,
    month: monthStart(createdAt),
    hour: after === null ? null : hourStart(after.occurredAt),
    month_limit: limit,
    vote_id: after?.voteId,
    counted: counted === null ? 0 : 1,
    value: after?.value,
    metadata: isStored ? metadata : null,
    version: after?.version,
    subject: details?.subject,
    voter: isStored ? details?.voter : null,
    comment: isStored ? details?.comment : null,
    trace_id: isStored ? details?.traceId : null,
  }
}

function toReplaced(change: SignalChange): BatchRow {
  const { before, expected } = change
  return {
    expected: expected?.vote.voteId,
    old_created_at: before?.occurredAt,
    old_hour: before === null ? null : hourStart(before.occurredAt),
    row_change: rowChange(change),
    old_value: before?.value,
    old_version: before?.version,
  }
}

function rowChange({ after, before }: SignalChange): 'insert' | 'update' | 'move' | 'delete' | null {
  if (after === null) return null
  const hadRow = before !== null && before.value !== null
  if (after.value === null) return hadRow ? 'delete' : null
  if (!hadRow) return 'insert'
  // Retention may remove the row at any moment, and then there is nothing to update. A row at another time has to be inserted.
  return after.occurredAt === before.occurredAt ? 'update' : 'move'
}

/** The month whose partition a raw row goes to. Null if no row is stored, or if it stays where it is. */
export function newMonth({ after, before }: SignalChange): Instant | null {
  if (after === null || after.value === null) return null
  if (before !== null && before.value !== null && before.occurredAt === after.occurredAt) return null
  return monthStart(after.occurredAt)
}
