import type { RecordOutcome, SignalDetails, SignalToRecord } from '../../domain/signals/signal.ts'
import { type Clock, monthStart } from '../../domain/time.ts'
import type { Row } from '../sql/database.ts'
import { createSumChanges, type SumChanges } from '../sql/sum-changes.ts'
import { castVote, receivedAt, toVote, type Vote } from '../sql/vote.ts'
import type { SqliteDatabase } from './database.ts'
import { hourlySums } from './hourly-sums.ts'
import { monthlyLimit, reserveUsage, type Usage } from './monthly-limit.ts'

const replacedStatus = 200

/** Records signals in order of arrival, all in one transaction. */
export function recordBatch(
  database: SqliteDatabase,
  clock: Clock,
): (signals: SignalToRecord[]) => Promise<RecordOutcome[]> {
  const findKey = database.prepare(
    'select fingerprint, signal_id, created_at, status from idempotency_keys where organisation_id = ? and key = ?',
  )
  const { readUsage, saveUsage } = monthlyLimit(database)
  const insertSignal = database.prepare(
    'insert into signals (organisation_id, prompt_id, value, metadata, created_at) values (?, ?, ?, ?, ?)',
  )
  const insertKey = database.prepare(
    `insert into idempotency_keys (organisation_id, key, fingerprint, signal_id, created_at, status)
     values (?, ?, ?, ?, ?, ?)`,
  )
  const saveSums = hourlySums(database)
  const insertDetailed = database.prepare(
    `insert into signals (organisation_id, prompt_id, value, metadata, created_at, version, subject, voter, comment,
       received_at, trace_id)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  // The row may be missing, because the vote was withdrawn or retention has removed it.
  const replaceSignal = database.prepare(
    `insert or replace into signals (organisation_id, prompt_id, value, metadata, created_at, version, subject, voter, comment,
       received_at, trace_id, id)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const deleteSignal = database.prepare('delete from signals where id = ?')
  // A vote from before the start of retention is as good as removed.
  const findVote = database.prepare(
    `select signal_id, vote_id, value, version, created_at, received_at from signal_subjects
     where organisation_id = ? and prompt_id = ? and subject = ?
       and max(received_at, created_at) >= (select kept_since from signal_retention)`,
  )
  const saveVote = database.prepare(
    `insert into signal_subjects
       (organisation_id, prompt_id, subject, signal_id, vote_id, value, version, created_at, received_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?)
     on conflict do update set signal_id = excluded.signal_id, vote_id = excluded.vote_id, value = excluded.value,
       version = excluded.version, created_at = excluded.created_at, received_at = excluded.received_at`,
  )

  /** The values of all columns of a signal but its ID. */
  function columnsOf({ organisationId, promptId, metadata }: SignalToRecord, details: SignalDetails, vote: Vote) {
    const { value, version, occurredAt } = vote
    const { subject, voter, comment, traceId } = details
    return [
      ...[organisationId, promptId, value, metadata, occurredAt],
      ...[version, subject, voter, comment, receivedAt(vote), traceId],
    ]
  }

  function insert(signal: SignalToRecord): number {
    const { organisationId, promptId, value, metadata, createdAt, details } = signal
    const { lastInsertRowid } =
      details == null
        ? insertSignal.run(organisationId, promptId, value, metadata, createdAt)
        : insertDetailed.run(...columnsOf(signal, details, castVote(null, signal, 0)))
    return lastInsertRowid as number
  }

  /** Changes the raw row and the sums from one vote on a subject to the next. */
  function replace(signal: SignalToRecord, details: SignalDetails, before: Vote, sums: SumChanges): Vote {
    const after = castVote(before, signal, before.signalId)
    if (before.value !== null) sums.change(signal, before.value, before.version, before.occurredAt, -1)
    if (after.value !== null) {
      sums.change(signal, after.value, after.version, after.occurredAt, 1)
      replaceSignal.run(...columnsOf(signal, details, after), after.signalId)
    } else if (before.value !== null) deleteSignal.run(before.signalId)
    return after
  }

  return (signals) =>
    database.transaction(() => {
      const usages = new Map<string, Usage>()
      const sums = createSumChanges()

      function usageOf(signal: SignalToRecord): Usage {
        const key = `${signal.organisationId} ${monthStart(signal.createdAt)}`
        let usage = usages.get(key)
        if (usage === undefined) {
          usage = readUsage(signal)
          usages.set(key, usage)
        }
        return usage
      }

      function record(signal: SignalToRecord): RecordOutcome {
        const { organisationId, promptId, value, createdAt, limit, details, idempotency } = signal
        if (idempotency !== null) {
          const known = findKey.get(organisationId, idempotency.key)
          if (known !== undefined) return repeat(known as Row, idempotency.fingerprint)
        }
        const subject = details?.subject ?? null
        const before = subject === null ? null : findVoteOn(organisationId, promptId, subject)
        if (details != null && before !== null) {
          const vote = replace(signal, details, before, sums)
          save(signal, vote)
          remember(signal, vote, replacedStatus)
          return { kind: 'replaced', id: vote.signalId, createdAt: vote.createdAt }
        }
        if (value === null) return { kind: 'unknown_subject' }
        const usage = usageOf(signal)
        if (!reserveUsage(usage, limit)) return { kind: 'over_limit', used: usage.used }
        sums.change(signal, value, details?.version ?? null, details?.occurredAt ?? createdAt, 1)
        const id = insert(signal)
        if (subject !== null) save(signal, castVote(null, signal, id))
        remember(signal, { signalId: id, createdAt }, null)
        return { kind: 'recorded', id, createdAt, used: usage.used }
      }

      const outcomes = signals.map(record)
      for (const usage of usages.values()) saveUsage(usage)
      saveSums(sums, clock())
      return outcomes
    })

  function findVoteOn(organisationId: number, promptId: number, subject: string): Vote | null {
    const row = findVote.get(organisationId, promptId, subject)
    return row === undefined ? null : toVote(row as Row)
  }

  function save({ organisationId, promptId, details }: SignalToRecord, vote: Vote): void {
    const { signalId, voteId, value, version, occurredAt, createdAt } = vote
    const subject = details?.subject as string
    saveVote.run(organisationId, promptId, subject, signalId, voteId, value, version, occurredAt, createdAt)
  }

  function remember(
    { organisationId, idempotency }: SignalToRecord,
    { signalId, createdAt }: Pick<Vote, 'signalId' | 'createdAt'>,
    status: number | null,
  ): void {
    if (idempotency === null) return
    insertKey.run(organisationId, idempotency.key, idempotency.fingerprint, signalId, createdAt, status)
  }
}

function repeat(known: Row, fingerprint: string): RecordOutcome {
  if (known.fingerprint !== fingerprint) return { kind: 'key_reused' }
  const original = known.status === replacedStatus ? 'replaced' : 'recorded'
  return { kind: 'repeated', id: known.signal_id as number, createdAt: known.created_at as number, original }
}
