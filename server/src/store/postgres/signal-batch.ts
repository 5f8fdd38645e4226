import { setTimeout as pause } from 'node:timers/promises'
import type { RecordOutcome, SignalToRecord } from '../../domain/signals/signal.ts'
import { type Clock, monthStart } from '../../domain/time.ts'
import type { Row } from '../sql/database.ts'
import { usedInMonth } from '../sql/organisations.ts'
import {
  changedRows,
  type KnownVotes,
  nextRound,
  type PendingSignal,
  planChanges,
  type SignalChange,
  settleOverLimit,
  settleRepeated,
  settleStored,
  subjectKey,
  usageKey,
} from '../sql/signal-changes.ts'
import { sendingOrganisations } from '../sql/signal-events.ts'
import { checkViolation, deadlock, type PostgresDatabase, UnknownOutcome } from './database.ts'
import { distributedStatement } from './distributed-record.ts'
import { lookUp, settleFound } from './known-signals.ts'
import type { PreparePartitions } from './partitions.ts'
import type { RecentSums } from './recent-sums.ts'
import { monthsOf } from './record-rows.ts'
import { recordStatement } from './record-statement.ts'
import { fenceGone, type SignalFence } from './signal-fence.ts'
import { signalIds } from './signal-ids.ts'

// How long to keep trying after the connection broke. If PostgreSQL is not back by then, the callers get an error.
const reconnectTimeoutMs = 5_000
const retryDelayMs = 50

const featureNotSupported = '0A000'
const uniqueViolation = '23505'
const serializationFailure = '40001'
const conflictCodes: unknown[] = [uniqueViolation, deadlock, serializationFailure, checkViolation, fenceGone]
const maxConflicts = 10

// A known key or vote rolls back the whole batch, with the signals of other organisations, and looking them up first takes another round
// trip. So that happens for a while after a known one: more are likely to follow.
const lookUpForMs = 5_000

/** Records signals in order of arrival, usually with a single statement. */
export function recordBatch(
  database: PostgresDatabase,
  preparePartitions: PreparePartitions,
  recent: RecentSums,
  fence: SignalFence,
  clock: Clock,
  generation: () => number,
): (signals: SignalToRecord[]) => Promise<RecordOutcome[]> {
  const ids = signalIds(database)
  let lookUpUntil = 0
  let [sending, seenGeneration] = [new Set<number>(), -1]

  return async (signals) => {
    const reserved = await ids.reserve(signals.length)
    const batch = signals.map((signal, i): PendingSignal => {
      return { id: reserved[i] as number, signal, planned: null, outcome: null }
    })
    await preparePartitions(signals.map(({ createdAt, details }) => monthStart(details?.occurredAt ?? createdAt)))
    if (generation() !== seenGeneration) {
      const current = generation()
      sending = new Set((await database.rows(sendingOrganisations)).map((row) => row.organisation_id as number))
      seenGeneration = current
    }
    // How many signals still fit, by `usageKey`, for organisations whose batch was larger than that.
    const remaining = new Map<string, number>()
    const votes: KnownVotes = new Map()
    let sent: SignalChange[] = []
    let mustLookUp = performance.now() < lookUpUntil
    let conflicts = 0
    // Set once something was rejected, which this may explain.
    let addsRecent = false
    // Set once some signals may be stored without our knowing. From then on they must be looked up before they are sent again.
    let deadline: number | null = null
    // Those of the last statement, and of one that may still be running.
    let fenceId: number | null = null
    let broken: number | null = null

    async function lookUpOpen(): Promise<void> {
      if (broken !== null) await fence.remove(broken)
      broken = null
      const open = batch.filter(({ outcome }) => outcome === null)
      await lookUp(database, open, votes)
      if (deadline !== null) await settleFound(database, sent, votes)
      settleRepeated(batch)
      mustLookUp = false
    }

    for (let open = batch; open.length > 0; open = open.filter(({ outcome }) => outcome === null)) {
      try {
        const isUnknown = ({ signal }: PendingSignal) =>
          signal.value === null && !votes.has(subjectKey(signal) as string)
        if (mustLookUp || open.some(isUnknown)) {
          await lookUpOpen()
          continue
        }
        const round = nextRound(open, votes, (signal) => remaining.get(usageKey(signal)) ?? Number.POSITIVE_INFINITY)
        const changes = planChanges(round, votes)
        const stored = await send(changes)
        conflicts = 0
        const rejected = changes.filter((change) => {
          const used = stored.get(change.signal.organisationId)
          if (used === undefined && change.after !== null) return true
          settleStored(change, used ?? 0)
          // What the row is like now is not known in full, so the next round finds out.
          const subject = subjectKey(change.signal)
          if (subject !== null) votes.delete(subject)
          return false
        })
        if (rejected.length > 0) await settleRejected(rejected)
        settleRepeated(batch)
      } catch (error) {
        const code = codeOf(error)
        // The tables were distributed meanwhile. The statements for those that are not are rejected from then on.
        const isOutdated = code === featureNotSupported && !database.isDistributed
        if (isOutdated && (await database.noticeDistribution())) continue
        if (conflictCodes.includes(code) && !(error instanceof UnknownOutcome) && ++conflicts < maxConflicts) {
          // Another process changed the same rows. A new attempt sees its changes.
          if (code === uniqueViolation) {
            mustLookUp = true
            lookUpUntil = performance.now() + lookUpForMs
          }
          if (code === fenceGone) fence.abandon(fenceId)
          // The clock went back to a month whose partition retention has already dropped.
          if (code === checkViolation) await preparePartitions(monthsOf(changedRows(sent, clock())), true)
          continue
        }
        const nothingStored = batch.every(({ outcome }) => outcome === null) && !(error instanceof UnknownOutcome)
        if (deadline === null && nothingStored) throw error
        ids.discard()
        broken ??= fenceId
        fence.abandon(fenceId)
        fenceId = null
        deadline ??= performance.now() + reconnectTimeoutMs
        if (performance.now() > deadline) throw error
        mustLookUp = true
        await pause(retryDelayMs)
      }
    }
    recent.recorded()
    return batch.map(({ outcome }) => outcome as RecordOutcome)

    /** The count for the month of each organisation whose changes are stored now. */
    async function send(changes: SignalChange[]): Promise<Map<number, number>> {
      const rows = changedRows(changes, clock(), sending)
      if (rows.usage.length === 0) return new Map()
      sent = changes
      // A vote may keep the time of the one that it replaces, which the batch did not know before.
      if (rows.removed.length > 0) await preparePartitions(monthsOf(rows))
      // Citus has a key on signals instead.
      fenceId = database.isDistributed ? null : await fence.id()
      const { sql, parameters, granted } =
        fenceId === null ? distributedStatement(rows) : recordStatement(rows, recent.writer, fenceId, addsRecent)
      const stored = granted((await database.attempt(sql, parameters)) as Row[])
      return new Map(stored.map(({ organisation, used }) => [organisation, used ?? 0]))
    }

    /**
     * Settles changes as over the limit, unless something else explains that they are not stored: a known key, another vote on a
     * subject, signals that the organisation recorded without a limit, or a round that as a whole was too large. Then notes how many still fit. After a broken connection, these very signals
     * may be what used up the limit, so they are looked up too.
     */
    async function settleRejected(rejected: SignalChange[]): Promise<void> {
      addsRecent = true
      await lookUpOpen()
      for (const changes of Map.groupBy(rejected, ({ signal }) => signal.organisationId).values()) {
        const isExplained = changes.some(({ signal, expected, requests }) => {
          if (requests.some(({ outcome }) => outcome !== null)) return true
          const subject = subjectKey(signal)
          return subject !== null && votes.get(subject)?.vote.voteId !== expected?.vote.voteId
        })
        const [{ signal }] = changes as [SignalChange]
        if (isExplained || signal.limit === null) continue
        const used = await usedInMonth(database, signal.organisationId, signal.createdAt)
        if (used < signal.limit) {
          remaining.set(usageKey(signal), signal.limit - used)
          continue
        }
        remaining.delete(usageKey(signal))
        for (const change of changes) if (change.isCounted) settleOverLimit(change, used)
      }
    }
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
