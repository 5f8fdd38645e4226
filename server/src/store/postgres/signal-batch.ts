import { setTimeout as pause } from 'node:timers/promises'
import type { RecordOutcome, SignalToRecord } from '../../domain/signals/signal.ts'
import { type Clock, type Instant, monthStart } from '../../domain/time.ts'
import type { Row } from '../sql/database.ts'
import { changesClosed } from '../sql/hour-revisions.ts'
import { deadlock, type PostgresDatabase, UnknownOutcome } from './database.ts'
import { type DetailedResult, detailedStatement, findVotesSql, newMonth, toVotesJson } from './detailed-statement.ts'
import { distributedStatement } from './distributed-record.ts'
import { findUsed, type Remaining, type ReservedUsage, usageKey, usedBy } from './monthly-limit.ts'
import type { PreparePartitions } from './partitions.ts'
import { type PendingSignal, repeat, settleRepeated } from './pending-signal.ts'
import { findKeysSql, findStoredSql, type KnownKey, recordStatement, toStoredJson } from './record-statement.ts'
import { signalIds } from './signal-ids.ts'
import {
  hasVote,
  isOwn,
  type KnownVotes,
  type PlannedChange,
  planChanges,
  settleGranted,
  settleKnown,
  settleOverLimit,
  subjectKey,
  toStoredVote,
} from './vote-changes.ts'

// How long to keep trying after the connection broke. If PostgreSQL is not back by then, the callers get an error.
const reconnectTimeoutMs = 5_000
const retryDelayMs = 50

/** Records signals in order of arrival, usually with a single statement. */
export function recordBatch(
  database: PostgresDatabase,
  preparePartitions: PreparePartitions,
  clock: Clock,
): (signals: SignalToRecord[]) => Promise<RecordOutcome[]> {
  const ids = signalIds(database)

  return async (signals) => {
    const reserved = await ids.reserve(signals.length)
    const batch: PendingSignal[] = signals.map((signal, i) => ({ id: reserved[i] as number, signal, outcome: null }))
    await preparePartitions(monthsOf(batch))
    const remaining: Remaining = new Map()
    const votes: KnownVotes = new Map()
    // Set once some signals may be stored without our knowing. From then on they must be looked up before they are sent again.
    let deadline: number | null = null
    let isUncertain = false
    for (let open = batch; open.length > 0; open = open.filter(({ outcome }) => outcome === null)) {
      try {
        if (isUncertain) {
          await settleStored(database, open)
          isUncertain = false
          continue
        }
        const round = nextRound(open, remaining, votes)
        const now = clock()
        // Only a clock that jumps makes a signal without details late.
        const isDetailed = round.some(({ signal }) => signal.details != null || changesClosed(signal.createdAt, now))
        if (isDetailed || database.isDistributed) {
          await recordDetailedRound(planChanges(round, votes), deadline !== null)
        } else {
          const reserved = await recordRound(database, round, preparePartitions)
          // Null if keys of the round were known. Then nothing is stored yet, and the rest is the next round.
          if (reserved !== null) {
            settle(round, reserved)
            // A known key is answered over the limit too.
            const isRejected = ({ outcome }: PendingSignal) => outcome === null
            if (round.some(isRejected)) await settleKnownKeys(database, round.filter(isRejected))
            const rejected = round.filter(isRejected)
            if (rejected.length > 0) await settleRejected(database, rejected, remaining, deadline !== null)
          }
        }
        settleRepeated(batch)
      } catch (error) {
        // The tables were distributed meanwhile. The statements for those that are not are rejected from then on.
        const isOutdated = codeOf(error) === featureNotSupported && !database.isDistributed
        if (isOutdated && (await database.noticeDistribution())) continue
        const nothingStored = batch.every(({ outcome }) => outcome === null) && !(error instanceof UnknownOutcome)
        if (deadline === null && nothingStored) throw error
        ids.discard()
        deadline ??= performance.now() + reconnectTimeoutMs
        if (performance.now() > deadline) throw error
        isUncertain = true
        await pause(retryDelayMs)
      }
    }
    return batch.map(({ outcome }) => outcome as RecordOutcome)

    async function recordDetailedRound(changes: PlannedChange[], mayBeStored: boolean): Promise<void> {
      const { reserved, known, stale } = await sendDetailed(database, changes, clock(), preparePartitions)
      const usedOf = usedBy(reserved)
      const answered = new Set<PlannedChange>()
      for (const each of known ?? []) {
        const change = changes[each.place - 1] as PlannedChange
        settleKnown(change, each)
        answered.add(change)
      }
      for (const { place, vote } of stale ?? []) {
        const change = changes[place - 1] as PlannedChange
        answered.add(change)
        const key = subjectKey(change.pending[0] as PendingSignal) as string
        if (vote !== null && isOwn(change, vote)) settleGranted(change, await findUsed(database, countedIn(change)))
        else votes.set(key, vote === null ? null : toStoredVote(vote))
      }
      const open = new Set<PlannedChange>()
      for (const change of changes) {
        if (answered.has(change)) continue
        const used = change.counted === null ? 0 : usedOf(change.counted)
        if (used === undefined) {
          open.add(change)
          continue
        }
        settleGranted(change, used)
        // What the row is like now is not known in full, so the next round finds out.
        const key = subjectKey(change.pending[0] as PendingSignal)
        if (key !== null) votes.delete(key)
      }
      if (open.size > 0) await settleRejectedChanges(database, [...open], remaining, mayBeStored)
    }
  }
}

/**
 * Settles the signals that turn out to be stored. One that is not may still be in flight on the broken connection: it is sent
 * again under the same ID, which PostgreSQL stores only once.
 */
async function settleStored(database: PostgresDatabase, open: PendingSignal[]): Promise<void> {
  // Votes are compared before they are changed, so those may be sent again.
  const inserted = open.filter((pending) => subjectKey(pending) === null)
  if (inserted.length === 0) return
  const rows = await findIn(
    database,
    findStoredSql,
    inserted.map(({ signal }) => signal.organisationId),
    toStoredJson(inserted),
  )
  const used = new Map(rows.map((row) => [row.id as number, row.used as number]))
  for (const pending of inserted.filter(({ id }) => used.has(id))) {
    const { id, signal } = pending
    pending.outcome = { kind: 'recorded', id, createdAt: signal.createdAt, used: used.get(id) as number }
  }
}

/** Runs a query on signals, where they are distributed once for each organisation: other workers may not be available. */
async function findIn(
  database: PostgresDatabase,
  sql: (condition: string) => string,
  organisationIds: number[],
  input: string,
): Promise<Record<string, unknown>[]> {
  if (!database.isDistributed) return database.query(sql(''), [input])
  const found: Record<string, unknown>[] = []
  for (const id of new Set(organisationIds)) {
    found.push(...(await database.attempt(sql('where organisation_id = $2'), [input, id])))
  }
  return found
}

/**
 * Picks the signals to send next, in order of arrival: only the first with each idempotency key, because the others repeat
 * its outcome; no more than still fit under an organisation's limit; and only signals with the same limit, which differs if
 * the plan changed while some were waiting.
 */
function nextRound(open: PendingSignal[], remaining: Remaining, votes: KnownVotes): PendingSignal[] {
  const keys = new Set<string>()
  const taken = new Map<string, { count: number; limit: number | null }>()
  const voted = new Set<string>()
  const waiting = new Set<string>()
  return open.filter((pending) => {
    const { signal } = pending
    const subject = subjectKey(pending)
    const usage = usageKey(signal)
    const { count, limit } = taken.get(usage) ?? { count: 0, limit: signal.limit }
    const isCounted = subject === null || (signal.value !== null && !voted.has(subject) && !hasVote(votes, subject))
    const fits = !isCounted || count < (remaining.get(usage) ?? Number.POSITIVE_INFINITY)
    if (signal.limit !== limit || !fits || (subject !== null && waiting.has(subject))) {
      // Later votes on a subject must not overtake this one.
      if (subject !== null) waiting.add(subject)
      return false
    }
    if (signal.idempotency !== null) {
      const key = `${signal.organisationId} ${signal.idempotency.key}`
      if (keys.has(key)) return false
      keys.add(key)
    }
    if (subject !== null && signal.value !== null) voted.add(subject)
    taken.set(usage, { count: isCounted ? count + 1 : count, limit })
    return true
  })
}

function settle(round: PendingSignal[], reserved: ReservedUsage[]): void {
  const usedOf = usedBy(reserved)
  for (const pending of round) {
    const used = usedOf(pending.signal)
    if (used === undefined) continue
    pending.outcome = { kind: 'recorded', id: pending.id, createdAt: pending.signal.createdAt, used }
  }
}

/** Answers the signals whose idempotency key was used before. False if none was. */
async function settleKnownKeys(database: PostgresDatabase, round: PendingSignal[]): Promise<boolean> {
  const keyed = round.filter(({ signal }) => signal.idempotency !== null)
  if (keyed.length === 0) return false
  const organisations = keyed.map(({ signal }) => signal.organisationId)
  const keys = keyed.map(({ signal }) => signal.idempotency?.key)
  const known = await database.query(findKeysSql, [organisations, JSON.stringify(keys)])
  for (const row of known as unknown as KnownKey[]) {
    const pending = keyed[row.place - 1] as PendingSignal
    pending.outcome = repeat(pending.signal, row)
  }
  return known.length > 0
}

/**
 * Settles signals as over the limit, unless only the round as a whole was too large: then notes how many still fit. After a
 * broken connection, these very signals may be what used up the limit, so they are looked up first.
 */
async function settleRejected(
  database: PostgresDatabase,
  rejected: PendingSignal[],
  remaining: Remaining,
  mayBeStored: boolean,
): Promise<void> {
  for (const [usage, signals] of Map.groupBy(rejected, ({ signal }) => usageKey(signal))) {
    const { signal } = signals[0] as PendingSignal
    const used = await findUsed(database, signal)
    if (signal.limit !== null && used < signal.limit) {
      remaining.set(usage, signal.limit - used)
      continue
    }
    remaining.delete(usage)
    if (mayBeStored) await settleStored(database, signals)
    for (const pending of signals) pending.outcome ??= { kind: 'over_limit', used }
  }
}

function countedIn({ counted, signal }: PlannedChange): SignalToRecord {
  return counted ?? signal
}

/** The same for a round of changes. Votes that were stored on a broken connection are recognised by their ID. */
async function settleRejectedChanges(
  database: PostgresDatabase,
  rejected: PlannedChange[],
  remaining: Remaining,
  mayBeStored: boolean,
): Promise<void> {
  for (const [usage, changes] of Map.groupBy(rejected, (change) => usageKey(countedIn(change)))) {
    const signal = countedIn(changes[0] as PlannedChange)
    const used = await findUsed(database, signal)
    if (signal.limit !== null && used < signal.limit) {
      remaining.set(usage, signal.limit - used)
      continue
    }
    remaining.delete(usage)
    if (mayBeStored) {
      await settleStored(
        database,
        changes.flatMap(({ pending }) => pending),
      )
      const organisations = changes.map((change) => change.signal.organisationId)
      for (const row of await findIn(database, findVotesSql, organisations, toVotesJson(changes))) {
        const change = changes[row.place as number] as PlannedChange
        if (isOwn(change, row as Row)) settleGranted(change, used)
      }
    }
    for (const change of changes) settleOverLimit(change, used)
  }
}

const featureNotSupported = '0A000'
const uniqueViolation = '23505'
const serializationFailure = '40001'
// The only check that a recorded signal can fail: its month has no partition.
const checkViolation = '23514'
const retryableCodes = [uniqueViolation, deadlock, serializationFailure, checkViolation]
const maxAttempts = 10

// A known key rolls back the whole batch, with the signals of other organisations, and looking keys up first takes another round trip. So
// that happens for a while after a known key: someone may be repeating it.
const lookUpForMs = 5_000
let lookUpUntil = 0

/** Null if keys of the round are known, which are answered then. */
async function recordRound(
  database: PostgresDatabase,
  round: PendingSignal[],
  preparePartitions: PreparePartitions,
): Promise<ReservedUsage[] | null> {
  if (performance.now() < lookUpUntil && (await settleKnownKeys(database, round))) return null
  const { sql, parameters } = recordStatement(round)
  const rows = await attemptOften(
    () => database.attempt(sql, parameters),
    () => preparePartitions(monthsOf(round), true),
    () => {
      lookUpUntil = performance.now() + lookUpForMs
      return settleKnownKeys(database, round)
    },
  )
  return rows as ReservedUsage[] | null
}

async function sendDetailed(
  database: PostgresDatabase,
  changes: PlannedChange[],
  now: Instant,
  preparePartitions: PreparePartitions,
): Promise<DetailedResult> {
  const months = changes.map(newMonth).filter((month) => month !== null)
  // A vote may keep the time of the one that it replaces, which the batch did not know before.
  await preparePartitions(months)
  const { isDistributed } = database
  const { sql, parameters } = isDistributed ? distributedStatement(changes, now) : detailedStatement(changes, now)
  const rows = await attemptOften(
    () => database.attempt(sql, parameters),
    () => preparePartitions(months, true),
  )
  const row = rows?.[0]
  return (isDistributed ? row?.result : row) as unknown as DetailedResult
}

/** Null as soon as `isSettled` says that a conflict has changed what to send. */
async function attemptOften<T>(
  attempt: () => Promise<T>,
  createPartitions: () => Promise<void>,
  isSettled = async () => false,
): Promise<T | null> {
  for (let count = 1; ; count++) {
    try {
      return await attempt()
    } catch (error) {
      // Another process changed the same rows, usually by storing the same idempotency key. A new attempt sees its changes.
      const code = codeOf(error)
      if (!retryableCodes.includes(code as string) || count === maxAttempts) throw error
      // The clock went back to a month whose partition retention has already dropped.
      if (code === checkViolation) await createPartitions()
      if (code === uniqueViolation && (await isSettled())) return null
    }
  }
}

function monthsOf(signals: PendingSignal[]): Instant[] {
  return signals.map(({ signal }) => monthStart(signal.details?.occurredAt ?? signal.createdAt))
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
