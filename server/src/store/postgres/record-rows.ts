import { monthStart } from '../../domain/time.ts'
import type { TypedColumn } from '../sql/database.ts'
import type { ChangedRows } from '../sql/signal-changes.ts'
import { receivedAt } from '../sql/vote.ts'
import { type BatchRow, batchInput, batchParameters } from './batch-columns.ts'

/** Rows of a batch that go to one table, as parameters of a statement: one for each column. */
export interface RowSet {
  columns: TypedColumn[]
  /** The columns of the table and what they get. `$.x` is the column x of the parameters. */
  values: Record<string, string>
  /** What follows the rows. `stored` is the table. */
  onConflict?: string
  /** Batches of other processes may add the same rows. In another order, two would wait for each other. */
  order?: string
}

function rowSet(numbers: string[], texts: string[], values: RowSet['values'] = {}, onConflict = ''): RowSet {
  const columns: TypedColumn[] = [
    ...numbers.map((name) => ({ name, type: 'bigint' as const })),
    ...texts.map((name) => ({ name, type: 'text' as const })),
  ]
  return { columns, values, onConflict }
}

function sameNames(...names: string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, `$.${name}`]))
}

const addVotes = 'positive = stored.positive + excluded.positive, negative = stored.negative + excluded.negative'
const isPositive = `case $.is_positive when 1 then 'positive' else 'negative' end`
const plainValues = { ...sameNames('id', 'organisation_id', 'prompt_id', 'created_at', 'metadata'), value: isPositive }
const plainNumbers = ['id', 'organisation_id', 'prompt_id', 'created_at', 'is_positive']
const detailTexts = ['version', 'subject', 'voter', 'comment', 'trace_id']
const voteValues = sameNames(
  ...[
    'organisation_id',
    'prompt_id',
    'subject',
    'signal_id',
    'vote_id',
    'value',
    'version',
    'created_at',
    'received_at',
  ],
)

export const usage = rowSet(
  ['organisation_id', 'month', 'signals', 'month_limit', 'writer'],
  [],
  { ...sameNames('organisation_id', 'month', 'writer'), used: '$.signals' },
  'on conflict (organisation_id, month, writer) do update set used = stored.used + excluded.used',
)

export const removed = rowSet(['organisation_id', 'prompt_id', 'created_at', 'id'], [])

/** Signals without details need half of the columns. */
export const plainSignals = rowSet(plainNumbers, ['metadata'], plainValues)

export const signals = rowSet([...plainNumbers, 'received_at'], ['metadata', ...detailTexts], {
  ...plainValues,
  ...sameNames('received_at', ...detailTexts),
})

const sumColumns = ['organisation_id', 'prompt_id', 'hour', 'positive', 'negative']

export const sums = rowSet(
  [...sumColumns, 'writer'],
  ['version'],
  { ...sameNames(...sumColumns, 'writer'), version: `coalesce($.version, '')` },
  `on conflict (organisation_id, prompt_id, hour, writer, version) do update set ${addVotes}`,
)

/** The same where all processes share the rows. */
export const hourSums: RowSet = {
  ...sums,
  values: sameNames(...sumColumns),
  order: 'organisation_id, prompt_id, hour',
  onConflict: `on conflict (organisation_id, prompt_id, hour) do update set ${addVotes}`,
}

export const versionSums: RowSet = {
  ...sums,
  values: sameNames(...sumColumns, 'version'),
  order: 'organisation_id, prompt_id, version collate "C", hour',
  onConflict: `on conflict (organisation_id, prompt_id, version, hour) do update set ${addVotes}`,
}

export const revisions: RowSet = {
  ...rowSet(['organisation_id', 'prompt_id'], [], { ...sameNames('organisation_id', 'prompt_id'), revision: '1' }),
  onConflict: 'on conflict (organisation_id, prompt_id) do update set revision = stored.revision + 1',
  order: 'organisation_id, prompt_id',
}

export const votes: RowSet = {
  ...rowSet(
    ['organisation_id', 'prompt_id', 'signal_id', 'vote_id', 'created_at', 'received_at', 'expected'],
    ['subject', 'value', 'version'],
    voteValues,
  ),
  order: 'organisation_id, prompt_id, subject collate "C"',
}

export const keys: RowSet = {
  ...rowSet(
    ['organisation_id', 'signal_id', 'created_at', 'status'],
    ['key', 'fingerprint'],
    sameNames('organisation_id', 'key', 'fingerprint', 'signal_id', 'created_at', 'status'),
  ),
  order: 'organisation_id, key collate "C"',
}

/** An insert of rows that `source` makes of the expressions for the columns. */
export function insertInto(
  table: string,
  { values, onConflict = '' }: RowSet,
  source: (expressions: string) => string,
): string {
  const expressions = Object.values(values).join(', ')
  return `insert into ${table} as stored (${Object.keys(values).join(', ')}) ${source(expressions)} ${onConflict}`
}

/** Sets a vote to the row `row` of `votes`. */
export function updateVote(row: string): string {
  const set = ['signal_id', 'vote_id', 'value', 'version', 'created_at', 'received_at']
  return `set ${set.map((name) => `${name} = ${row}.${name}`).join(', ')}`
}

/** The condition that joins the tables `a` and `b` on these columns. */
export function sameIn(a: string, b: string, columns: string[]): string {
  return columns.map((name) => `${a}.${name} = ${b}.${name}`).join(' and ')
}

export const voteKey = ['organisation_id', 'prompt_id', 'subject']
export const signalKey = ['organisation_id', 'prompt_id', 'created_at', 'id']

/** The `from` item with the rows of a set, where `sets` are all parameters of the statement, in order. */
export function inputOf(sets: RowSet[], set: RowSet): string {
  const skipped = sets.slice(0, sets.indexOf(set)).reduce((sum, { columns }) => sum + columns.length, 0)
  return batchInput(set.columns, undefined, skipped)
}

/** The parameters of these sets. */
export function parametersOf(sets: RowSet[], rows: ChangedRows, writer: number): string[] {
  return sets.flatMap((set) => batchParameters(set.columns, batchRows(set, rows, writer)))
}

function batchRows(set: RowSet, rows: ChangedRows, writer: number): BatchRow[] {
  switch (set) {
    case usage:
      return rows.usage.map(({ organisationId, month, signals, limit }) => {
        return { organisation_id: organisationId, month, signals, month_limit: limit, writer }
      })
    case removed:
      return rows.removed.map(({ organisationId, promptId, occurredAt, id }) => {
        return { organisation_id: organisationId, prompt_id: promptId, created_at: occurredAt, id }
      })
    case sums:
      return rows.sums.map(({ organisationId, promptId, version, hour, positive, negative }) => {
        return { organisation_id: organisationId, prompt_id: promptId, version, hour, positive, negative, writer }
      })
    case revisions:
      return rows.revised.map(({ organisationId, promptId }) => {
        return { organisation_id: organisationId, prompt_id: promptId }
      })
    case votes:
      return rows.votes.map(({ signal: { organisationId, promptId, details }, after: vote, expected }) => ({
        organisation_id: organisationId,
        prompt_id: promptId,
        signal_id: vote.signalId,
        vote_id: vote.voteId,
        created_at: vote.occurredAt,
        received_at: vote.createdAt,
        expected: expected?.vote.voteId,
        subject: details?.subject,
        value: vote.value,
        version: vote.version,
      }))
    case keys:
      return rows.keys.map(({ organisationId, key, fingerprint, vote, status }) => {
        const [signal_id, created_at] = [vote.signalId, vote.createdAt]
        return { organisation_id: organisationId, signal_id, created_at, status, key, fingerprint }
      })
    default:
      return rows.inserted.map(({ signal: { organisationId, promptId, metadata, details }, after: vote }) => ({
        id: vote.signalId,
        organisation_id: organisationId,
        prompt_id: promptId,
        created_at: vote.occurredAt,
        is_positive: vote.value === 'positive' ? 1 : 0,
        metadata,
        ...(set === signals && {
          received_at: receivedAt(vote),
          version: vote.version,
          subject: details?.subject,
          voter: details?.voter,
          comment: details?.comment,
          trace_id: details?.traceId,
        }),
      }))
  }
}

/** The months whose partitions the rows go to. */
export function monthsOf({ inserted }: ChangedRows): number[] {
  return inserted.map(({ after }) => monthStart(after.occurredAt))
}
