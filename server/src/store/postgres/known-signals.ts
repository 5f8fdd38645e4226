import { monthStart } from '../../domain/time.ts'
import { type ColumnTypes, columnNames, type Row } from '../sql/database.ts'
import { usedInMonth } from '../sql/organisations.ts'
import {
  type KnownKey,
  type KnownVotes,
  type PendingSignal,
  repeat,
  type SignalChange,
  settleStored,
  subjectKey,
  toStoredVote,
} from '../sql/signal-changes.ts'
import { type BatchRow, batchInput, batchParameters } from './batch-columns.ts'
import type { PostgresDatabase } from './database.ts'

const keyColumns: ColumnTypes = { organisation_id: 'bigint', key: 'text' }

const voteColumns: ColumnTypes = { organisation_id: 'bigint', prompt_id: 'bigint', subject: 'text' }

const storedColumns: ColumnTypes = {
  organisation_id: 'bigint',
  prompt_id: 'bigint',
  created_at: 'bigint',
  id: 'bigint',
}

/** A query for the rows of a table that equal these columns, with the `place` of each. */
const findIn = (table: string, columns: ColumnTypes, selected: string) =>
  `select place, ${selected} from ${batchInput(columns)} join ${table} using (${columnNames(columns)})`

const findKeys = findIn(
  'idempotency_keys',
  keyColumns,
  'signal_id as id, created_at as "createdAt", fingerprint, status',
)
const findVotes = findIn(
  'signal_subjects',
  voteColumns,
  `signal_id, vote_id, value, version, created_at, received_at,
   greatest(received_at, created_at) < (select kept_since from signal_retention) as expired,
   (select kept_since from signal_retention)`,
)
const findStored = findIn('signals', storedColumns, 'id')

/**
 * Looks up what a batch has assumed not to exist. Settles signals whose idempotency key was used before, and finds the votes on their
 * subjects.
 */
export async function lookUp(database: PostgresDatabase, open: PendingSignal[], votes: KnownVotes): Promise<void> {
  const keyed = open.filter(({ signal }) => signal.idempotency !== null)
  const voted = open.filter(({ signal }) => subjectKey(signal) !== null)
  const [knownKeys, knownVotes] = await Promise.all([
    find(database, findKeys, keyColumns, keyed, ({ signal: { organisationId, idempotency } }) => {
      return { organisation_id: organisationId, key: idempotency?.key }
    }),
    find(database, findVotes, voteColumns, voted, ({ signal: { organisationId, promptId, details } }) => {
      return { organisation_id: organisationId, prompt_id: promptId, subject: details?.subject }
    }),
  ])
  for (const [pending, row] of knownKeys) pending.outcome = repeat(pending.signal, row as unknown as KnownKey)
  for (const { signal } of voted) votes.set(subjectKey(signal) as string, null)
  for (const [{ signal }, row] of knownVotes) votes.set(subjectKey(signal) as string, toStoredVote(row))
}

/**
 * Settles the changes that turn out to be stored after the connection broke. The fence is removed, so the others never will be, and can be
 * sent again. On Citus they may still be in flight: they have the same IDs again, which its key allows only once. `votes` were looked
 * up after that.
 */
export async function settleFound(database: PostgresDatabase, sent: SignalChange[], votes: KnownVotes): Promise<void> {
  const inserted = sent.filter(({ signal }) => subjectKey(signal) === null)
  const requests = inserted.map(({ requests }) => requests[0] as PendingSignal)
  const rows = await find(database, findStored, storedColumns, requests, ({ id, signal }) => {
    const { organisationId, promptId, createdAt, details } = signal
    const created_at = details?.occurredAt ?? createdAt
    return { organisation_id: organisationId, prompt_id: promptId, created_at, id }
  })
  const found = new Set(rows.map(([pending]) => pending))
  const used = new Map<string, number>()
  for (const change of sent) {
    const { signal, requests } = change
    const subject = subjectKey(signal)
    const vote = subject === null ? null : votes.get(subject)?.vote
    // Another process may have replaced the vote since, but the ID of a first vote stays.
    const isOwn = requests.some((each) => found.has(each) || each.id === vote?.voteId || each.id === vote?.signalId)
    if (!isOwn || requests.every(({ outcome }) => outcome !== null)) continue
    const month = `${signal.organisationId} ${monthStart(signal.createdAt)}`
    if (!used.has(month)) used.set(month, await usedInMonth(database, signal.organisationId, signal.createdAt))
    settleStored(change, used.get(month) as number)
  }
}

/** Where signals are distributed, asks once for each organisation: other workers may not be available. */
async function find(
  database: PostgresDatabase,
  sql: string,
  columns: ColumnTypes,
  signals: PendingSignal[],
  rowOf: (pending: PendingSignal) => BatchRow,
): Promise<[PendingSignal, Row][]> {
  if (signals.length === 0) return []
  const groups = database.isDistributed
    ? [...Map.groupBy(signals, ({ signal }) => signal.organisationId).values()]
    : [signals]
  const found: [PendingSignal, Row][] = []
  for (const group of groups) {
    const parameters: unknown[] = batchParameters(columns, group.map(rowOf))
    const ofOrganisation = database.isDistributed ? ` where organisation_id = $${Object.keys(columns).length + 1}` : ''
    if (database.isDistributed) parameters.push(group[0]?.signal.organisationId)
    const rows = (await database.attempt(`${sql}${ofOrganisation}`, parameters)) as Row[]
    for (const row of rows) found.push([group[(row.place as number) - 1] as PendingSignal, row])
  }
  return found
}
