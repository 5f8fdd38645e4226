import type { RecordOutcome, SignalToRecord } from '../../domain/signals/signal.ts'
import { type Instant, monthStart } from '../../domain/time.ts'
import type { Row } from './database.ts'
import { changesClosed } from './hour-revisions.ts'
import { type EventRow, newEvent } from './signal-events.ts'
import { createSumChanges, type SumChange } from './sum-changes.ts'
import { castVote, toVote, type Vote } from './vote.ts'

/** A signal of a batch, with its outcome once it is known. */
export interface PendingSignal {
  id: number
  signal: SignalToRecord
  /** The outcome if the change that contains it is stored. */
  planned: RecordOutcome | null
  outcome: RecordOutcome | null
}

/** A vote as it is stored, and whether retention has passed it. */
interface StoredVote {
  vote: Vote
  /** The vote itself is as good as removed: the next one on this subject is a new one. */
  isExpired: boolean
  /** The start of retention. The raw row of a vote that counts for an earlier time is removed, or about to be. */
  keptSince: Instant
}

/** What a signal changes, or all signals of a batch on one subject together. */
export interface SignalChange {
  /** The last request on the subject, whose fields are stored. */
  signal: SignalToRecord
  /** Null if nothing is to be stored: a withdrawal of a vote that is not known. */
  after: Vote | null
  /** What the sums contain now. Null for a first vote. */
  before: Vote | null
  /** The stored vote that this change is based on. If another process has changed it, nothing is stored. */
  expected: StoredVote | null
  /** Whether it counts towards the monthly limit. */
  isCounted: boolean
  requests: PendingSignal[]
}

/** The votes that are known, by `subjectKey`; null if there is none. A vote that is not in it is assumed to be the first. */
export type KnownVotes = Map<string, StoredVote | null>

/** An idempotency key that was used before. `status` is that of the first response, null for 201. */
export interface KnownKey {
  fingerprint: string
  id: number
  createdAt: Instant
  status: number | null
}

type StoredChange = SignalChange & { after: Vote }

/** The rows that changes consist of, by table. Those of one organisation are stored together or not at all. */
export interface ChangedRows {
  usage: { organisationId: number; month: Instant; signals: number; limit: number | null }[]
  removed: { organisationId: number; promptId: number; occurredAt: Instant; id: number }[]
  /** The changes whose `after` is a signal, without votes that retention would remove. */
  inserted: StoredChange[]
  sums: SumChange[]
  revised: { organisationId: number; promptId: number }[]
  /** The changes whose `after` is a vote on a subject. */
  votes: StoredChange[]
  keys: { organisationId: number; key: string; fingerprint: string; vote: Vote; status: number | null }[]
  /** Of organisations whose signals are sent. */
  events: EventRow[]
}

const replacedStatus = 200

export function subjectKey({ organisationId, promptId, details }: SignalToRecord): string | null {
  const subject = details?.subject ?? null
  return subject === null ? null : `${organisationId} ${promptId} ${subject}`
}

/** Identifies the usage that the signal counts towards. */
export function usageKey({ organisationId, createdAt }: SignalToRecord): string {
  return `${organisationId} ${monthStart(createdAt)}`
}

export function toStoredVote(row: Row): StoredVote {
  return { vote: toVote(row), isExpired: Boolean(row.expired), keptSince: row.kept_since as Instant }
}

/**
 * Picks the signals to store next, in order of arrival: only the first with each idempotency key, because the others repeat its
 * outcome; no more than there is room for under the organisation's limit; and only signals of an organisation with the same limit and
 * month. They differ if the plan or the month changed while some were waiting.
 */
export function nextRound(
  open: PendingSignal[],
  votes: KnownVotes,
  room: (signal: SignalToRecord) => number,
): PendingSignal[] {
  const keys = new Set<string>()
  const taken = new Map<number, { room: number; limit: number | null; month: Instant }>()
  const voted = new Set<string>()
  const waiting = new Set<string>()
  return open.filter(({ signal }) => {
    const { organisationId, limit, idempotency } = signal
    const subject = subjectKey(signal)
    const month = monthStart(signal.createdAt)
    let of = taken.get(organisationId)
    if (of === undefined) {
      of = { room: room(signal), limit, month }
      taken.set(organisationId, of)
    }
    const isCounted = subject === null || (signal.value !== null && !voted.has(subject) && !hasVote(votes, subject))
    const fits = !isCounted || of.room > 0
    if (limit !== of.limit || month !== of.month || !fits || (subject !== null && waiting.has(subject))) {
      // Later votes on a subject must not overtake this one.
      if (subject !== null) waiting.add(subject)
      return false
    }
    if (idempotency !== null) {
      const key = `${organisationId} ${idempotency.key}`
      if (keys.has(key)) return false
      keys.add(key)
    }
    if (subject !== null && signal.value !== null) voted.add(subject)
    if (isCounted) of.room--
    return true
  })
}

/** Whether a vote on the subject is believed to exist, so that one more is not counted. */
export function hasVote(votes: KnownVotes, subject: string): boolean {
  const stored = votes.get(subject) ?? null
  return stored !== null && !stored.isExpired
}

/**
 * The changes of a round, in order of arrival. Votes on one subject become one change, from the first to the last of them. `voteId` says
 * which ID a vote that replaces another one has.
 */
export function planChanges(
  round: PendingSignal[],
  votes: KnownVotes,
  voteId: (id: number, before: Vote) => number = (id) => id,
): SignalChange[] {
  const bySubject = new Map<string, SignalChange>()
  const changes: SignalChange[] = []
  for (const pending of round) {
    const subject = subjectKey(pending.signal)
    let change = subject === null ? undefined : bySubject.get(subject)
    if (change === undefined) {
      const expected = subject === null ? null : (votes.get(subject) ?? null)
      const before = expected === null || expected.isExpired ? null : expected.vote
      change = { signal: pending.signal, expected, before, after: before, isCounted: false, requests: [] }
      changes.push(change)
      if (subject !== null) bySubject.set(subject, change)
    }
    addTo(change, pending, voteId)
  }
  return changes
}

function addTo(change: SignalChange, pending: PendingSignal, voteId: (id: number, before: Vote) => number): void {
  const { id, signal } = pending
  change.requests.push(pending)
  if (change.after === null && signal.value === null) {
    pending.planned = { kind: 'unknown_subject' }
    return
  }
  const isFirst = change.after === null
  const after = castVote(change.after, signal, change.after === null ? id : voteId(id, change.after))
  change.after = after
  change.signal = signal
  if (isFirst) change.isCounted = true
  pending.planned = isFirst
    ? { kind: 'recorded', id, createdAt: after.createdAt, used: 0 }
    : { kind: 'replaced', id: after.signalId, createdAt: after.createdAt }
}

const none: never[] = []

/** Everything that these changes add to tables or remove from them. `sending`: the organisations whose signals are sent. */
export function changedRows(changes: SignalChange[], now: Instant, sending?: ReadonlySet<number>): ChangedRows {
  const usage = new Map<number, ChangedRows['usage'][number]>()
  const sums = createSumChanges()
  const rows: ChangedRows = {
    usage: [],
    removed: [],
    inserted: [],
    sums: [],
    revised: [],
    votes: [],
    keys: [],
    events: none,
  }
  for (const change of changes) {
    if (!isStored(change)) continue
    const { signal, before, after, isCounted, requests } = change
    const { organisationId, promptId, limit, details } = signal
    const month = monthStart(signal.createdAt)
    const of = usage.get(organisationId)
    if (of === undefined) usage.set(organisationId, { organisationId, month, signals: isCounted ? 1 : 0, limit })
    else if (isCounted) of.signals++
    if (before !== null && before.value !== null) {
      sums.change(signal, before.value, before.version, before.occurredAt, -1)
      rows.removed.push({ organisationId, promptId, occurredAt: before.occurredAt, id: before.signalId })
    }
    if (after.value !== null) {
      sums.change(signal, after.value, after.version, after.occurredAt, 1)
      if (!isBeforeRetention(change)) rows.inserted.push(change)
    }
    if ((details?.subject ?? null) !== null) rows.votes.push(change)
    for (const { signal, planned } of requests) {
      if (signal.idempotency === null || planned?.kind === 'unknown_subject') continue
      const status = planned?.kind === 'replaced' ? replacedStatus : null
      rows.keys.push({ organisationId, ...signal.idempotency, vote: after, status })
    }
  }
  if (sending !== undefined && sending.size > 0) rows.events = eventsOf(changes, sending)
  rows.usage = [...usage.values()]
  rows.sums = sums.all()
  const revised = new Map<number, number>()
  for (const { organisationId, promptId, hour } of rows.sums) {
    if (changesClosed(hour, now)) revised.set(promptId, organisationId)
  }
  rows.revised = [...revised].map(([promptId, organisationId]) => ({ organisationId, promptId }))
  return rows
}

function eventsOf(changes: SignalChange[], sending: ReadonlySet<number>): EventRow[] {
  return changes.flatMap(({ signal, before, after }) => {
    // A vote that was cast and withdrawn at once never existed for others.
    const exists = (before?.value ?? null) !== null || (after?.value ?? null) !== null
    if (after === null || !exists || !sending.has(signal.organisationId)) return []
    const kind = after.value === null ? 'withdrawn' : before === null ? 'recorded' : 'replaced'
    return newEvent(signal, after.signalId, after.occurredAt, kind, signal.createdAt)
  })
}

function isStored(change: SignalChange): change is StoredChange {
  return change.after !== null
}

/** Whether it replaces a vote by one of a time whose raw rows retention has removed. */
function isBeforeRetention({ before, after, expected }: StoredChange): boolean {
  return before !== null && expected !== null && after.occurredAt < expected.keptSince
}

/** The change is stored. `used` is the count of its organisation for the month. */
export function settleStored({ requests }: SignalChange, used: number): void {
  for (const pending of requests) {
    const { planned } = pending
    if (planned?.kind === 'recorded') planned.used = used
    pending.outcome = planned
  }
}

/** Settles a change that is not stored, because the month's limit is reached. */
export function settleOverLimit({ requests }: SignalChange, used: number): void {
  for (const pending of requests) {
    pending.outcome ??= pending.signal.value === null ? { kind: 'unknown_subject' } : { kind: 'over_limit', used }
  }
}

/** Answers a request whose idempotency key was used before. */
export function repeat({ idempotency }: SignalToRecord, known: KnownKey): RecordOutcome {
  if (idempotency?.fingerprint !== known.fingerprint) return { kind: 'key_reused' }
  const original = known.status === replacedStatus ? 'replaced' : 'recorded'
  return { kind: 'repeated', id: known.id, createdAt: known.createdAt, original }
}

/**
 * Answers the requests that repeat the key of another one in the batch. One per round would do too, but a batch of nothing else
 * would then take as many rounds as it has signals.
 */
export function settleRepeated(batch: PendingSignal[]): void {
  let answered: Map<string, KnownKey> | undefined
  for (const { outcome, signal } of batch) {
    if (signal.idempotency === null || outcome === null) continue
    if (outcome.kind !== 'recorded' && outcome.kind !== 'replaced' && outcome.kind !== 'repeated') continue
    const original = outcome.kind === 'repeated' ? outcome.original : outcome.kind
    const { id, createdAt } = outcome
    const { key, fingerprint } = signal.idempotency
    const status = original === 'replaced' ? replacedStatus : null
    answered ??= new Map()
    answered.set(`${signal.organisationId} ${key}`, { id, createdAt, fingerprint, status })
  }
  if (answered === undefined) return
  for (const pending of batch) {
    const { outcome, signal } = pending
    if (outcome !== null || signal.idempotency === null) continue
    const known = answered.get(`${signal.organisationId} ${signal.idempotency.key}`)
    if (known !== undefined) pending.outcome = repeat(signal, known)
  }
}
