import { monthStart } from '../../domain/time.ts'
import type { ColumnType, ColumnTypes, Value } from '../sql/database.ts'
import type { ChangedRows } from '../sql/signal-changes.ts'
import { type EventRow, eventColumns, eventNames, onLaterChange } from '../sql/signal-events.ts'
import { receivedAt } from '../sql/vote.ts'
import { batchInput, columnParameter } from './batch-columns.ts'

/** Rows of a batch that go to one table, as parameters of a statement: one for each column. */
export interface RowSet {
  columns: ColumnTypes
  parameters: (rows: ChangedRows, writer: number) => string[]
  /** The columns of the table and what they get. `$.x` is the column x of the parameters. */
  values: Record<string, string>
  /** What follows the rows. `stored` is the table. */
  onConflict?: string
  /** Batches of other processes may add the same rows. In another order, two would wait for each other. */
  order?: string
}

/** What a column gets from a row. Read column by column, because an object per row would take longer than all the rest. */
type Columns<Row> = Record<string, (row: Row, writer: number) => Value | undefined>

function rowSet<Name extends keyof ChangedRows>(
  name: Name,
  numbers: Columns<ChangedRows[Name][number]>,
  texts: Columns<ChangedRows[Name][number]>,
  values: RowSet['values'] = {},
): RowSet {
  const columns = [
    ...Object.entries(numbers).map(([name, read]) => ({ name, type: 'bigint' as const, read })),
    ...Object.entries(texts).map(([name, read]) => ({ name, type: 'text' as const, read })),
  ]
  return {
    columns: Object.fromEntries(columns.map(({ name, type }) => [name, type])),
    parameters(changed, writer) {
      const rows: ChangedRows[Name][number][] = changed[name]
      return columns.map(({ type, read }) => columnParameter(type, rows, (row) => read(row, writer)))
    },
    values,
  }
}

function sameNames(...names: string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, `$.${name}`]))
}

const addVotes = 'positive = stored.positive + excluded.positive, negative = stored.negative + excluded.negative'
// Not `case $.is_positive when 1`: Citus deparses that for a worker as a comparison of a number with a boolean.
const isPositive = `case when $.is_positive = 1 then 'positive' else 'negative' end`

/** The prompt of a row. */
const ofPrompt = {
  organisation_id: ({ organisationId }: { organisationId: number }) => organisationId,
  prompt_id: ({ promptId }: { promptId: number }) => promptId,
}
const writer = (_row: unknown, number: number) => number

export const usage: RowSet = {
  ...rowSet(
    'usage',
    {
      organisation_id: ofPrompt.organisation_id,
      month: ({ month }) => month,
      signals: ({ signals }) => signals,
      month_limit: ({ limit }) => limit,
      writer,
    },
    {},
    { ...sameNames('organisation_id', 'month', 'writer'), used: '$.signals' },
  ),
  onConflict: 'on conflict (organisation_id, month, writer) do update set used = stored.used + excluded.used',
}

export const removed = rowSet(
  'removed',
  { ...ofPrompt, created_at: ({ occurredAt }) => occurredAt, id: ({ id }) => id },
  {},
)

type StoredChange = ChangedRows['inserted'][number]

/** The prompt of a change. */
const ofSignal: Columns<StoredChange> = {
  organisation_id: ({ signal }) => signal.organisationId,
  prompt_id: ({ signal }) => signal.promptId,
}
const plainNumbers: Columns<StoredChange> = {
  id: ({ after }) => after.signalId,
  ...ofSignal,
  created_at: ({ after }) => after.occurredAt,
  is_positive: ({ after }) => (after.value === 'positive' ? 1 : 0),
}
const metadata: Columns<StoredChange> = { metadata: ({ signal }) => signal.metadata }
const detailTexts: Columns<StoredChange> = {
  version: ({ after }) => after.version,
  subject: ({ signal }) => signal.details?.subject,
  voter: ({ signal }) => signal.details?.voter,
  comment: ({ signal }) => signal.details?.comment,
  trace_id: ({ signal }) => signal.details?.traceId,
}
const plainValues = { ...sameNames('id', 'organisation_id', 'prompt_id', 'created_at', 'metadata'), value: isPositive }

/** Signals without details need half of the columns. */
export const plainSignals = rowSet('inserted', plainNumbers, metadata, plainValues)

export const signals = rowSet(
  'inserted',
  { ...plainNumbers, received_at: ({ after }) => receivedAt(after) },
  { ...metadata, ...detailTexts },
  { ...plainValues, ...sameNames('received_at', ...Object.keys(detailTexts)) },
)

const sumColumns = ['organisation_id', 'prompt_id', 'hour', 'positive', 'negative']

export const sums: RowSet = {
  ...rowSet(
    'sums',
    {
      ...ofPrompt,
      hour: ({ hour }) => hour,
      positive: ({ positive }) => positive,
      negative: ({ negative }) => negative,
      writer,
    },
    { version: ({ version }) => version },
    { ...sameNames(...sumColumns, 'writer'), version: `coalesce($.version, '')` },
  ),
  onConflict: `on conflict (organisation_id, prompt_id, hour, writer, version) do update set ${addVotes}`,
}

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
  ...rowSet('revised', ofPrompt, {}, { ...sameNames('organisation_id', 'prompt_id'), revision: '1' }),
  onConflict: 'on conflict (organisation_id, prompt_id) do update set revision = stored.revision + 1',
  order: 'organisation_id, prompt_id',
}

export const votes: RowSet = {
  ...rowSet(
    'votes',
    {
      ...ofSignal,
      signal_id: ({ after }) => after.signalId,
      vote_id: ({ after }) => after.voteId,
      created_at: ({ after }) => after.occurredAt,
      received_at: ({ after }) => after.createdAt,
      expected: ({ expected }) => expected?.vote.voteId,
    },
    {
      subject: ({ signal }) => signal.details?.subject,
      value: ({ after }) => after.value,
      version: ({ after }) => after.version,
    },
    sameNames(
      ...['organisation_id', 'prompt_id', 'subject', 'signal_id', 'vote_id', 'value', 'version'],
      ...['created_at', 'received_at'],
    ),
  ),
  order: 'organisation_id, prompt_id, subject collate "C"',
}

export const keys: RowSet = {
  ...rowSet(
    'keys',
    {
      organisation_id: ofPrompt.organisation_id,
      signal_id: ({ vote }) => vote.signalId,
      created_at: ({ vote }) => vote.createdAt,
      status: ({ status }) => status,
    },
    { key: ({ key }) => key, fingerprint: ({ fingerprint }) => fingerprint },
    sameNames('organisation_id', 'key', 'fingerprint', 'signal_id', 'created_at', 'status'),
  ),
  order: 'organisation_id, key collate "C"',
}

const eventsOf = (wanted: ColumnType): Columns<EventRow> =>
  Object.fromEntries(
    eventNames.filter((name) => eventColumns[name] === wanted).map((name) => [name, (row: EventRow) => row[name]]),
  )

export const events: RowSet = {
  ...rowSet('events', eventsOf('bigint'), eventsOf('text'), sameNames(...eventNames)),
  onConflict: onLaterChange,
  order: 'organisation_id, signal_id',
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
  const skipped = sets.slice(0, sets.indexOf(set)).reduce((sum, { columns }) => sum + Object.keys(columns).length, 0)
  return batchInput(set.columns, skipped)
}

/** The parameters of these sets. */
export function parametersOf(sets: RowSet[], rows: ChangedRows, writer: number): string[] {
  return sets.flatMap(({ parameters }) => parameters(rows, writer))
}

/** The months whose partitions the rows go to. */
export function monthsOf({ inserted }: ChangedRows): number[] {
  return inserted.map(({ after }) => monthStart(after.occurredAt))
}
