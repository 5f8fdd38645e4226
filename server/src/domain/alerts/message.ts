import type { Briefing } from '../briefings/briefing.ts'
import type { HistoryEntry } from '../history/entry.ts'
import type { Prompt } from '../prompt.ts'
import type { RegressionState } from '../regressions/regression.ts'
import type { Instant } from '../time.ts'
import type { Trial } from '../trials/trial.ts'
import type { DeliveryEvent } from './event.ts'

/**
 * What one delivery says, whatever the channel. Stored as JSON without comments of users: they are read again for each attempt, so
 * that erased ones are not sent.
 */
export type Message =
  | RegressionMessage
  | ShiftMessage
  | LimitMessage
  | RepositoryMessage
  | TrialMessage
  | DigestMessage
  | TestMessage

interface MessageOf<Event extends DeliveryEvent | 'alert.test'> {
  event: Event
  at: Instant
  organisation: { id: number; name: string }
}

export interface RegressionMessage
  extends MessageOf<'regression.opened' | 'regression.repaired' | 'regression.withdrawn' | 'regression.dismissed'> {
  /** The change that did it. Of a pull request that touched several prompts, the entry of the first prompt. */
  change: HistoryEntry
  /** The first line of the commit message or the title of the pull request. */
  title: string | null
  repositoryId: number | null
  /** The prompts that it made worse, the largest loss first. At least one. */
  prompts: ToldPrompt[]
  /** Identifies prompt and change, from the first message to the last. PagerDuty closes incidents by it. */
  dedupKey: string
}

export interface ToldPrompt {
  prompt: Pick<Prompt, 'publicId' | 'name'>
  regressionId: number
  entryId: number
  /** One pull request can have open and repaired ones. Pull requests show it, and that a user dismissed it. */
  state: RegressionState
  liveFrom: Instant
  before: Rate
  after: Rate
  difference: number
  interval: [low: number, high: number]
  /** Why this change and not drift. Of a repaired or withdrawn regression, why it is over. */
  explanation: string
  repairedBy: 'rate' | 'revert' | null
  repairedEntry: HistoryEntry | null
  /** The email address of who takes care of it. Missing in messages of earlier versions. */
  owner?: string | null
  /** The newest negative comments, at most three. Empty in the stored message. */
  comments: { text: string; at: Instant }[]
}

interface Rate {
  rate: number
  signals: number
}

/** Rates that fell, and no single change explains it: of one prompt, or of many at the same time. */
export interface ShiftMessage extends MessageOf<'shift.unexplained'> {
  /** At most 100, the largest loss first. */
  prompts: {
    prompt: Pick<Prompt, 'publicId' | 'name'>
    /** Missing in messages of earlier versions, as the owner. */
    shiftId?: string
    /** The email address of who takes care of it. */
    owner?: string | null
    shiftedAt: Instant
    between: [Instant, Instant]
    rateBefore: number
    rateAfter: number
    /** How many changes of the prompt may be the cause. Missing in messages of earlier versions. */
    candidates?: number
  }[]
  /** How many prompts fell, including those that are not listed. */
  promptCount: number
}

export interface LimitMessage extends MessageOf<'limit.near' | 'limit.reached'> {
  /** As YYYY-MM. */
  month: string
  limit: number
  used: number
  resetsAt: Instant
}

export interface RepositoryMessage extends MessageOf<'repository.failing' | 'repository.recovered'> {
  repository: { id: number; url: string }
  /** Null if it recovered. */
  error: string | null
  since: Instant
}

export interface TrialMessage
  extends MessageOf<'trial.started' | 'trial.better' | 'trial.worse' | 'trial.stopped' | 'trial.mismatch'> {
  trial: Pick<
    Trial,
    'id' | 'repositoryId' | 'prNumber' | 'commitSha' | 'share' | 'startedBy' | 'startedAt' | 'ending' | 'findings'
  > &
    // Missing in messages of earlier versions.
    Partial<Pick<Trial, 'state'>>
  prUrl: string | null
  prompts: { prompt: Pick<Prompt, 'publicId' | 'name'> }[]
}

/** What became of changes in the week before a Monday. Lists have at most 20 changes; the counts are of all of them. */
export interface DigestMessage extends MessageOf<'digest.weekly'> {
  from: Instant
  until: Instant
  /** Those that the votes have shown to be better since `from`. */
  helped: DigestChange[]
  /** Those whose regression opened in the week, and those whose regression is still open. */
  hurt: HurtChange[]
  /** Those that are live, with too few votes for a verdict. */
  undecided: UndecidedChange[]
  counts: Record<DigestSection, number>
}

export type DigestSection = 'helped' | 'hurt' | 'undecided'

export interface DigestChange extends Pick<HistoryEntry, 'commitSha' | 'prNumber'> {
  prompt: Pick<Prompt, 'publicId' | 'name'>
  entryId: number
  author: string
  liveFrom: Instant
  before: DigestRate
  after: DigestRate
  /** Null if a side has no votes. */
  interval: [low: number, high: number] | null
}

interface DigestRate extends Omit<Rate, 'rate'> {
  /** Null without votes. */
  rate: number | null
}

export interface HurtChange extends DigestChange {
  regressionId: number
  state: RegressionState
  openedAt: Instant
}

export interface UndecidedChange extends DigestChange {
  /** About how many more days of votes a verdict needs at least. Null if 90 are not enough. */
  daysLeft: number | null
}

/** Why a label starts no trial. Told on the pull request only, and not stored. */
export interface LabelMessage {
  event: 'trial.refused'
  at: Instant
  organisation: { id: number; name: string }
  repositoryId: number
  prNumber: number
  commitSha: string
  reason: string
}

/** What reviewers of an open pull request should know. Told on the pull request only, and not stored. */
export interface BriefingMessage extends Briefing {
  event: 'pull.briefed'
  at: Instant
  organisation: { id: number; name: string }
  repositoryId: number
}

/** What "send a test" sends. */
export interface TestMessage extends MessageOf<'alert.test'> {
  alert: string
}
