import type { RecordOutcome } from '../../domain/signals/signal.ts'
import type { Row } from '../sql/database.ts'
import { castVote, toVote } from '../sql/vote.ts'
import type { DetailedResult, SignalChange, StoredVote } from './detailed-statement.ts'
import { type PendingSignal, repeat, replacedStatus } from './pending-signal.ts'

/** One change for all signals of a round on the same subject, with the outcome of each if it is stored. */
export interface PlannedChange extends SignalChange {
  pending: PendingSignal[]
  outcomes: RecordOutcome[]
}

/**
 * What the batch knows about stored votes, by `subjectKey`. It starts empty: most votes are the first on their subject, so that is
 * assumed until the statement says otherwise.
 */
export type KnownVotes = Map<string, StoredVote | null>

export function subjectKey({ signal }: PendingSignal): string | null {
  const subject = signal.details?.subject ?? null
  return subject === null ? null : `${signal.organisationId} ${signal.promptId} ${subject}`
}

/** Whether a vote on the subject is believed to exist, so that one more is not counted. */
export function hasVote(votes: KnownVotes, key: string): boolean {
  const stored = votes.get(key) ?? null
  return stored !== null && !stored.isExpired
}

/** The changes of a round, in order of arrival. Votes on one subject become one change, from the first to the last of them. */
export function planChanges(round: PendingSignal[], votes: KnownVotes): PlannedChange[] {
  const bySubject = new Map<string, PlannedChange>()
  const changes: PlannedChange[] = []
  for (const pending of round) {
    const key = subjectKey(pending)
    let change = key === null ? undefined : bySubject.get(key)
    if (change === undefined) {
      change = firstChange(pending, key === null ? null : (votes.get(key) ?? null))
      changes.push(change)
      if (key !== null) bySubject.set(key, change)
    }
    addTo(change, pending)
  }
  return changes
}

function firstChange({ signal }: PendingSignal, expected: StoredVote | null): PlannedChange {
  const before = expected === null || expected.isExpired ? null : expected.vote
  return { signal, expected, before, after: before, counted: null, keys: [], pending: [], outcomes: [] }
}

function addTo(change: PlannedChange, pending: PendingSignal): void {
  const { id, signal } = pending
  const outcome = apply(change, pending)
  change.pending.push(pending)
  change.outcomes.push(outcome)
  const isStored = outcome.kind !== 'unknown_subject'
  if (isStored) change.signal = signal
  if (signal.idempotency !== null) {
    const status = outcome.kind === 'replaced' ? replacedStatus : null
    change.keys.push({ ...signal.idempotency, status, isStored })
  }

  function apply(change: PlannedChange, { signal }: PendingSignal): RecordOutcome {
    if (change.after !== null) {
      change.after = castVote(change.after, signal, id)
      return { kind: 'replaced', id: change.after.signalId, createdAt: change.after.createdAt }
    }
    if (signal.value === null) return { kind: 'unknown_subject' }
    change.after = castVote(null, signal, id)
    change.counted = signal
    return { kind: 'recorded', id, createdAt: signal.createdAt, used: 0 }
  }
}

export function settleGranted(change: PlannedChange, used: number): void {
  for (const [i, pending] of change.pending.entries()) {
    const outcome = change.outcomes[i] as RecordOutcome
    pending.outcome = outcome.kind === 'recorded' ? { ...outcome, used } : outcome
  }
}

export function settleKnown(
  { keys, pending }: PlannedChange,
  known: NonNullable<DetailedResult['known']>[number],
): void {
  const { key } = keys[known.index] as { key: string }
  for (const each of pending) {
    if (each.signal.idempotency?.key === key) each.outcome = repeat(each.signal, known)
  }
}

/** Settles a change that cannot be stored, because the month's limit is reached. */
export function settleOverLimit({ pending }: PlannedChange, used: number): void {
  for (const each of pending) {
    each.outcome ??= each.signal.value === null ? { kind: 'unknown_subject' } : { kind: 'over_limit', used }
  }
}

/**
 * Whether the stored vote is the result of this very change: it was sent before, on a connection that broke. Another process may
 * have replaced it since, but the ID of a first vote stays.
 */
export function isOwn({ pending }: PlannedChange, row: Row): boolean {
  return pending.some(({ id }) => id === row.vote_id || id === row.signal_id)
}

export function toStoredVote(row: Row): StoredVote {
  return { vote: toVote(row), isExpired: Boolean(row.expired) }
}
