import type { SignalToRecord, SignalValue } from '../../domain/signals/signal.ts'
import type { VersionText } from '../../domain/signals/version.ts'
import type { Instant } from '../../domain/time.ts'
import type { Row } from './database.ts'

/** The vote on a subject: a row of signal_subjects. It says what the raw row and all sums contain of it. */
export interface Vote {
  signalId: number
  /** The ID drawn for the last request that changed the vote. */
  voteId: number
  /** Null if the vote was withdrawn. Then neither a raw row nor any sum contains it. */
  value: SignalValue | null
  version: VersionText | null
  /** The time that the vote counts for: `created_at` in the tables. */
  occurredAt: Instant
  /** When the first vote arrived: `received_at` in the tables. */
  createdAt: Instant
}

/**
 * The vote after one more request. A first vote takes the drawn ID as the ID of its signal; every later one keeps that ID, the time
 * of the first response and, if the request does not name them, the version and the time: the same output is judged again.
 */
export function castVote(before: Vote | null, { value, createdAt, details }: SignalToRecord, drawnId: number): Vote {
  return {
    signalId: before?.signalId ?? drawnId,
    voteId: drawnId,
    value,
    version: details?.version ?? before?.version ?? null,
    occurredAt: details?.occurredAt ?? before?.occurredAt ?? createdAt,
    createdAt: before?.createdAt ?? createdAt,
  }
}

export function toVote(row: Row): Vote {
  return {
    signalId: row.signal_id as number,
    voteId: row.vote_id as number,
    value: row.value as SignalValue | null,
    version: row.version as string | null,
    occurredAt: row.created_at as number,
    createdAt: row.received_at as number,
  }
}

/** What the column `received_at` of a signal holds: null unless it differs from `created_at`. */
export function receivedAt({ occurredAt, createdAt }: Pick<Vote, 'occurredAt' | 'createdAt'>): Instant | null {
  return occurredAt === createdAt ? null : createdAt
}
