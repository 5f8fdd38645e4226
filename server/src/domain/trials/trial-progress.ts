import type { Instant } from '../time.ts'
import type { Arm } from './assignment.ts'
import type { TrialEvidence } from './e-process.ts'
import type { ArmCounts } from './share-check.ts'

/** Where a vote is in the order of time. */
export interface VotePosition {
  at: Instant
  id: number
}

/** What the judge has counted of a trial, and how far it has read. Plain JSON of a few kilobytes, however many votes there are. */
export interface TrialProgress {
  /** The last vote that was read. */
  read: VotePosition
  /** Whether there was none after it. */
  isAtEnd: boolean
  /** Where the search for votes that were stored late is. Null between two searches. */
  late: VotePosition | null
  searchedAt: Instant
  evidence: TrialEvidence
  arms: Record<Arm, { voters: number; positive: number }>
  /** The voters by the share that they were assigned by. */
  voters: ArmCounts[]
  /** The votes since the share was changed last. */
  atShare: { from: Instant; votes: number }
  /** How many votes each of the last hours had. */
  hours: [hour: Instant, votes: number][]
  /** Since when a prompt has no live text. */
  lostSince: Instant | null
}
