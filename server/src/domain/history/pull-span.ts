import type { Instant } from '../time.ts'
import type { Action, HistoryEntry } from './entry.ts'

/** One entry of a pull request. */
export interface PullStep {
  entryId: number
  action: Action
  createdAt: Instant
}

/** From when a pull request was opened until it was merged or closed, as the history of one prompt has it. */
export interface PullSpan {
  /** Null if its opening is not recorded. */
  opened: PullStep | null
  /** The last time that it was merged or closed; null while it is open. */
  outcome: PullStep | null
}

/** The same for all entries of a pull request. */
export function pullKey({ prNumber, prUrl }: Pick<HistoryEntry, 'prNumber' | 'prUrl'>): string {
  return `${prNumber} ${prUrl}`
}
