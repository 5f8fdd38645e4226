import type { RegressionState } from '../regressions/regression.ts'
import type { Repository } from '../repositories/repository.ts'
import type { Instant } from '../time.ts'
import type { Attempt } from './channel.ts'
import type { BriefingMessage, LabelMessage, RegressionMessage, TrialMessage } from './message.ts'

/**
 * Tells a pull request and its merged commit: one comment, created once and edited afterwards, and a commit status. A change that landed
 * without a pull request gets the status alone. Reads the repository and the comment itself. Never rejects, and takes at most 45 s.
 */
export type ReportOnPull = (message: PullMessage) => Promise<Attempt>

export type PullMessage = RegressionMessage | TrialMessage | LabelMessage | BriefingMessage

/** Opens an issue about a change that made prompts worse, once, and closes it when that is over. Never rejects, and takes at most 45 s. */
export type ReportIssue = (repository: Repository, message: RegressionMessage) => Promise<Attempt>

/** What a pull request, or a commit that landed without one, was told last. */
export interface PullComment {
  /** The comment's ID on the forge. Null before the first one, and for a commit. */
  commentId: string | null
  /** The time of the newest message that it shows. */
  messageAt: Instant | null
}

type RepositoryKey = Pick<Repository, 'id' | 'organisationId'>

export interface PullCommentStore {
  /** Claims the subject until then, so that no other process comments on it. Null if another one has claimed it. */
  claim(repository: RepositoryKey, subject: string, now: Instant, until: Instant): Promise<PullComment | null>
  /** Stores what it was told, and ends the claim that lasts until then, unless that has passed to another process. */
  release(repository: RepositoryKey, subject: string, comment: PullComment, claimedUntil: Instant): Promise<void>
  /** What has become of the regressions. Without those that no longer exist. */
  states(organisationId: number, regressionIds: number[]): Promise<Map<number, RegressionState>>
  /** Stores why reports on the repository fail. Null if they succeed. */
  recordError(repository: RepositoryKey, error: string | null): Promise<void>
}

/** Whether a change is told on its pull request, once the notice about it is due. */
export function isReportedOnPull({ reportsOnPulls, disconnectedAt }: Repository): boolean {
  return reportsOnPulls && disconnectedAt === null
}

/** Whether a revert of a change is proposed when the notice about it is told. */
export function proposesItself({ proposesReverts, disconnectedAt }: Repository): boolean {
  return proposesReverts && disconnectedAt === null
}

/** Whether an issue is opened for a change when the notice about it is told. */
export function opensIssues({ opensIssues, disconnectedAt }: Repository): boolean {
  return opensIssues && disconnectedAt === null
}

/** The issue about a change. Its number is stored as the ID of a comment. */
export function issueSubject(number: number | null, commitSha: string): string {
  return `issue/${pullCommentSubject(number, commitSha)}`
}

/** Whether the reviewers of open pull requests are briefed. */
export function isBriefed({ briefsPulls, disconnectedAt }: Repository): boolean {
  return briefsPulls && disconnectedAt === null
}

/** A trial has a comment of its own beside that of regressions. */
export function trialCommentSubject(number: number): string {
  return `trial/${number}`
}

/** So has the briefing. */
export function briefingSubject(number: number): string {
  return `briefing/${number}`
}

/** `pull/7`, or `commit/<sha>` for a change that landed without a pull request. */
export function pullCommentSubject(number: number | null, commitSha: string): string {
  return number === null ? `commit/${commitSha}` : `pull/${number}`
}
