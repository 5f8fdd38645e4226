import type { SQLInputValue, StatementSync } from 'node:sqlite'
import type { RecordOutcome, SignalToRecord } from '../../domain/signals/signal.ts'
import { type Clock, monthStart } from '../../domain/time.ts'
import type { Row } from '../sql/database.ts'
import { increaseRevision } from '../sql/hour-revisions.ts'
import {
  type ChangedRows,
  changedRows,
  hasVote,
  type KnownKey,
  type KnownVotes,
  nextRound,
  type PendingSignal,
  planChanges,
  repeat,
  settleRepeated,
  settleStored,
  subjectKey,
  toStoredVote,
  usageKey,
} from '../sql/signal-changes.ts'
import { eventNames, onLaterChange, sendingOrganisations } from '../sql/signal-events.ts'
import { addToSums } from '../sql/sum-changes.ts'
import { receivedAt } from '../sql/vote.ts'
import type { SqliteDatabase } from './database.ts'

/**
 * Records signals in order of arrival, all in one transaction. The monthly limit is exact across processes: a batch reads and writes
 * `used` in one `begin immediate` transaction, and SQLite allows only one of those at a time.
 */
export function recordBatch(
  database: SqliteDatabase,
  clock: Clock,
  generation: () => number,
): (signals: SignalToRecord[]) => Promise<RecordOutcome[]> {
  const lastId = database.prepare(`select seq from sqlite_sequence where name = 'signals'`)
  const findKey = database.prepare(
    `select fingerprint, signal_id as id, created_at as createdAt, status from idempotency_keys
     where organisation_id = ? and key = ?`,
  )
  // A vote from before the start of retention is as good as removed.
  const findVote = database.prepare(
    `select signal_id, vote_id, value, version, created_at, received_at, kept_since
     from signal_subjects cross join signal_retention
     where organisation_id = ? and prompt_id = ? and subject = ? and max(received_at, created_at) >= kept_since`,
  )
  const findUsage = database.prepare('select used from signal_usage where organisation_id = ? and month = ?')
  const store = rowStore(database)
  const findSending = database.prepare(sendingOrganisations)
  let [sending, seenGeneration] = [new Set<number>(), -1]

  return (signals) =>
    database.transaction(() => {
      let id = (lastId.get()?.seq ?? 0) as number
      const batch = signals.map((signal): PendingSignal => ({ id: ++id, signal, planned: null, outcome: null }))
      if (generation() !== seenGeneration) {
        seenGeneration = generation()
        sending = new Set(findSending.all().map((row) => row.organisation_id as number))
      }
      const votes: KnownVotes = new Map()
      const usage = new Map<string, number>()
      for (const pending of batch) lookUp(pending, votes)

      function usedBy(signal: SignalToRecord): number {
        const key = usageKey(signal)
        let used = usage.get(key)
        if (used === undefined) {
          used = (findUsage.get(signal.organisationId, monthStart(signal.createdAt))?.used ?? 0) as number
          usage.set(key, used)
        }
        return used
      }

      function room(signal: SignalToRecord): number {
        return signal.limit === null ? Number.POSITIVE_INFINITY : signal.limit - usedBy(signal)
      }

      function isOverLimit(signal: SignalToRecord): boolean {
        const subject = subjectKey(signal)
        return signal.value !== null && (subject === null || !hasVote(votes, subject)) && room(signal) <= 0
      }

      const isOpen = ({ outcome }: PendingSignal) => outcome === null
      for (let open = batch.filter(isOpen); open.length > 0; open = open.filter(isOpen)) {
        const changes = planChanges(nextRound(open, votes, room), votes, (_, before) => before.signalId)
        const rows = changedRows(changes, clock(), sending)
        store(rows)
        const usedNow = new Map<number, number>()
        for (const { organisationId, month, signals } of rows.usage) {
          const key = `${organisationId} ${month}`
          const used = usage.get(key)
          if (used === undefined) continue
          usage.set(key, used + signals)
          usedNow.set(organisationId, used + signals)
        }
        for (const change of changes) {
          settleStored(change, usedNow.get(change.signal.organisationId) ?? 0)
          const subject = subjectKey(change.signal)
          if (subject !== null && change.after !== null) {
            const keptSince = change.expected?.keptSince ?? 0
            votes.set(subject, { vote: change.after, isExpired: false, keptSince })
          }
        }
        settleRepeated(batch)
        for (const pending of open) {
          const { signal, outcome } = pending
          if (outcome === null && isOverLimit(signal)) pending.outcome = { kind: 'over_limit', used: usedBy(signal) }
        }
      }
      return batch.map(({ outcome }) => outcome as RecordOutcome)
    })

  function lookUp(pending: PendingSignal, votes: KnownVotes): void {
    const { organisationId, promptId, details, idempotency } = pending.signal
    if (idempotency !== null) {
      const known = findKey.get(organisationId, idempotency.key)
      if (known !== undefined) pending.outcome = repeat(pending.signal, known as unknown as KnownKey)
    }
    const subject = subjectKey(pending.signal)
    if (subject === null || votes.has(subject)) return
    const row = findVote.get(organisationId, promptId, details?.subject as string)
    votes.set(subject, row === undefined ? null : toStoredVote(row as Row))
  }
}

// Each statement reads and writes the row with the last ID of the table.
const rowsAtOnce = 8

/** Stores the rows of a batch. */
function rowStore(database: SqliteDatabase): (rows: ChangedRows) => void {
  const deleteSignal = database.prepare('delete from signals where id = ?')
  const [insertPlain, insertSeveral] = [1, rowsAtOnce].map((rows) =>
    database.prepare(
      `insert into signals (id, organisation_id, prompt_id, value, metadata, created_at)
       values ${Array(rows).fill('(?, ?, ?, ?, ?, ?)').join(', ')}`,
    ),
  ) as [StatementSync, StatementSync]
  const insertDetailed = database.prepare(
    `insert into signals (id, organisation_id, prompt_id, value, metadata, created_at, version, subject, voter, comment,
       received_at, trace_id)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const addUsage = database.prepare(
    `insert into signal_usage (organisation_id, month, used, month_limit) values (?, ?, ?, ?)
     on conflict do update set used = signal_usage.used + excluded.used, month_limit = excluded.month_limit`,
  )
  const addToHour = database.prepare(addToSums('signal_hours', 'values (?, ?, ?, ?, ?)'))
  const addToVersion = database.prepare(addToSums('version_hours', 'values (?, ?, ?, ?, ?, ?)'))
  const addRevision = database.prepare(
    `insert into hour_revisions (organisation_id, prompt_id, revision) values (?, ?, 1) ${increaseRevision}`,
  )
  const saveVote = database.prepare(
    `insert into signal_subjects
       (organisation_id, prompt_id, subject, signal_id, vote_id, value, version, created_at, received_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?)
     on conflict do update set signal_id = excluded.signal_id, vote_id = excluded.vote_id, value = excluded.value,
       version = excluded.version, created_at = excluded.created_at, received_at = excluded.received_at`,
  )
  const insertKey = database.prepare(
    `insert into idempotency_keys (organisation_id, key, fingerprint, signal_id, created_at, status)
     values (?, ?, ?, ?, ?, ?)`,
  )
  const insertEvent = database.prepare(
    `insert into signal_events (${eventNames.join(', ')}) values (?, ?, ?, ?, ?, ?, ?) ${onLaterChange}`,
  )

  function insertAllPlain(signals: SQLInputValue[][]): void {
    const together = signals.length - (signals.length % rowsAtOnce)
    for (let i = 0; i < together; i += rowsAtOnce) insertSeveral.run(...signals.slice(i, i + rowsAtOnce).flat())
    for (const signal of signals.slice(together)) insertPlain.run(...signal)
  }

  return (rows) => {
    const plain: SQLInputValue[][] = []
    for (const { id } of rows.removed) deleteSignal.run(id)
    for (const { signal, after } of rows.inserted) {
      const { organisationId, promptId, metadata, details } = signal
      const { signalId, value, version, occurredAt } = after
      if (details == null) plain.push([signalId, organisationId, promptId, value, metadata, occurredAt])
      else {
        const { subject, voter, comment, traceId } = details
        insertDetailed.run(
          ...[signalId, organisationId, promptId, value, metadata, occurredAt],
          ...[version, subject, voter, comment, receivedAt(after), traceId],
        )
      }
    }
    insertAllPlain(plain)
    for (const { organisationId, month, signals, limit } of rows.usage) {
      if (signals > 0) addUsage.run(organisationId, month, signals, limit)
    }
    for (const { organisationId, promptId, version, hour, positive, negative } of rows.sums) {
      if (version === null) addToHour.run(organisationId, promptId, hour, positive, negative)
      else addToVersion.run(organisationId, promptId, version, hour, positive, negative)
    }
    for (const { organisationId, promptId } of rows.revised) addRevision.run(organisationId, promptId)
    for (const { signal, after, expected } of rows.votes) {
      const { signalId, voteId, value, version, occurredAt, createdAt } = after
      const subject = signal.details?.subject as string
      if (value === null && expected === null) {
        // Cast and withdrawn in one batch. Only a row takes the ID from the sequence, and the vote may be cast again.
        insertPlain.run(signalId, signal.organisationId, signal.promptId, 'positive', null, occurredAt)
        deleteSignal.run(signalId)
      }
      saveVote.run(
        ...[signal.organisationId, signal.promptId, subject],
        ...[signalId, voteId, value, version, occurredAt, createdAt],
      )
    }
    for (const { organisationId, key, fingerprint, vote, status } of rows.keys) {
      insertKey.run(organisationId, key, fingerprint, vote.signalId, vote.createdAt, status)
    }
    for (const event of rows.events) insertEvent.run(...eventNames.map((name) => event[name]))
  }
}
