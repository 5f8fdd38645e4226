import { setTimeout as pause } from 'node:timers/promises'
import type { RecordOutcome, SignalToRecord } from '../../domain/signals/signal.ts'
import { type Instant, monthStart } from '../../domain/time.ts'
import { type PostgresDatabase, UnknownOutcome } from './database.ts'
import { findUsed, type Remaining, usageKey } from './monthly-limit.ts'
import type { PreparePartitions } from './partitions.ts'
import { findStoredSql, type NumberedSignal, type RecordResult, recordSql, toInputJson } from './record-statement.ts'
import { signalIds } from './signal-ids.ts'

interface PendingSignal extends NumberedSignal {
  outcome: RecordOutcome | null
}

// How long to keep trying after the connection broke. If PostgreSQL is not back by then, the callers get an error.
const reconnectTimeoutMs = 5_000
const retryDelayMs = 50

/** Records signals in order of arrival, usually with a single statement. */
export function recordBatch(
  database: PostgresDatabase,
  preparePartitions: PreparePartitions,
): (signals: SignalToRecord[]) => Promise<RecordOutcome[]> {
  const ids = signalIds(database)

  return async (signals) => {
    const reserved = await ids.reserve(signals.length)
    const batch: PendingSignal[] = signals.map((signal, i) => ({ id: reserved[i] as number, signal, outcome: null }))
    await preparePartitions(monthsOf(batch))
    const remaining: Remaining = new Map()
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
        const round = nextRound(open, remaining)
        settle(round, await recordRound(database, round, preparePartitions))
        const rejected = round.filter(({ outcome }) => outcome === null)
        if (rejected.length > 0) await settleRejected(database, rejected, remaining, deadline !== null)
      } catch (error) {
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
  }
}

/**
 * Settles the signals that turn out to be stored. One that is not may still be in flight on the broken connection: it is sent
 * again under the same ID, which PostgreSQL stores only once.
 */
async function settleStored(database: PostgresDatabase, open: PendingSignal[]): Promise<void> {
  const rows = await database.query(findStoredSql, [toInputJson(open)])
  const used = new Map(rows.map((row) => [row.id as number, row.used as number]))
  for (const pending of open.filter(({ id }) => used.has(id))) {
    const { id, signal } = pending
    pending.outcome = { kind: 'recorded', id, createdAt: signal.createdAt, used: used.get(id) as number }
  }
}

/**
 * Picks the signals to send next, in order of arrival: only the first with each idempotency key, because the others repeat
 * its outcome; no more than still fit under an organisation's limit; and only signals with the same limit, which differs if
 * the plan changed while some were waiting.
 */
function nextRound(open: PendingSignal[], remaining: Remaining): PendingSignal[] {
  const keys = new Set<string>()
  const taken = new Map<string, { count: number; limit: number | null }>()
  return open.filter(({ signal }) => {
    const usage = usageKey(signal)
    const { count, limit } = taken.get(usage) ?? { count: 0, limit: signal.limit }
    if (signal.limit !== limit || count >= (remaining.get(usage) ?? Number.POSITIVE_INFINITY)) return false
    if (signal.idempotency !== null) {
      const key = `${signal.organisationId} ${signal.idempotency.key}`
      if (keys.has(key)) return false
      keys.add(key)
    }
    taken.set(usage, { count: count + 1, limit })
    return true
  })
}

function settle(round: PendingSignal[], { granted, known }: RecordResult): void {
  for (const { place, used } of granted ?? []) {
    const pending = round[place - 1] as PendingSignal
    pending.outcome = { kind: 'recorded', id: pending.id, createdAt: pending.signal.createdAt, used }
  }
  for (const { place, id, createdAt, fingerprint } of known ?? []) {
    const pending = round[place - 1] as PendingSignal
    const isRepeated = pending.signal.idempotency?.fingerprint === fingerprint
    pending.outcome = isRepeated ? { kind: 'repeated', id, createdAt, original: 'recorded' } : { kind: 'key_reused' }
  }
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

const uniqueViolation = '23505'
const deadlock = '40P01'
const serializationFailure = '40001'
// The only check that a recorded signal can fail: its month has no partition.
const checkViolation = '23514'
const retryableCodes = [uniqueViolation, deadlock, serializationFailure, checkViolation]
const maxAttempts = 10

async function recordRound(
  database: PostgresDatabase,
  round: PendingSignal[],
  preparePartitions: PreparePartitions,
): Promise<RecordResult> {
  const input = toInputJson(round)
  for (let attempt = 1; ; attempt++) {
    try {
      const [row] = await database.attempt(recordSql, [input])
      return row as unknown as RecordResult
    } catch (error) {
      // Another process changed the same rows, usually by storing the same idempotency key. A new attempt sees its changes.
      const code = codeOf(error)
      if (!retryableCodes.includes(code as string) || attempt === maxAttempts) throw error
      // The clock went back to a month whose partition retention has already dropped.
      if (code === checkViolation) await preparePartitions(monthsOf(round), true)
    }
  }
}

function monthsOf(signals: PendingSignal[]): Instant[] {
  return signals.map(({ signal }) => monthStart(signal.createdAt))
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
