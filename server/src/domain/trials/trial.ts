import type { Actor } from '../access/audit.ts'
import { DomainError, invalidField } from '../errors.ts'
import type { PageRequest } from '../page.ts'
import type { Prompt } from '../prompt.ts'
import { randomBase62 } from '../random.ts'
import type { Tally } from '../signals/tally.ts'
import type { Instant } from '../time.ts'
import type { Arm } from './assignment.ts'
import type { TrialEvidence } from './e-process.ts'
import type { PendingLabel } from './label.ts'
import type { ArmCounts } from './share-check.ts'

export const trialStates = ['running', 'paused', 'ended'] as const

export type TrialState = (typeof trialStates)[number]

/** Why a trial ended: it made things worse, it was merged, its pull request was closed, someone ended it, or a prompt of it is gone. */
export const trialEndings = ['worse', 'live', 'closed', 'requested', 'gone'] as const

export type TrialEnding = (typeof trialEndings)[number]

/** A commit that some of the users get before it is merged. */
export interface Trial {
  organisationId: number
  /** The public ID: `trl_` and an opaque suffix. Units are assigned by it. */
  id: string
  repositoryId: number
  prNumber: number | null
  commitSha: string
  state: TrialState
  /** The part of the units that gets the candidate while it runs, from 0 to 1. */
  share: number
  /** Which share was served since when; 0 while it was paused. */
  shares: ServedShare[]
  ramp: Ramp | null
  verdict: 'better' | 'worse' | null
  /** Whether units or voters do not come in the promised proportion. There is no verdict then. */
  mismatch: boolean
  /** What the judge found last. */
  findings: TrialFindings | null
  /** The name of the key, or of the forge's user. */
  startedBy: string
  startedAt: Instant
  endedAt: Instant | null
  ending: TrialEnding | null
  prompts: TrialPrompt[]
}

export interface ServedShare {
  from: Instant
  share: number
}

/** Shares in turn: each next one after so many votes without harm. */
export interface Ramp {
  shares: number[]
  votes: number
}

interface TrialPrompt {
  prompt: Pick<Prompt, 'id' | 'publicId' | 'name'>
  /** The ID of the candidate's text in git. */
  blob: string
  /** The commits of the live text since the trial started. Votes that name one of them are those of the live version. */
  controls: string[]
}

export interface NewTrial
  extends Pick<
    Trial,
    'organisationId' | 'id' | 'repositoryId' | 'prNumber' | 'commitSha' | 'share' | 'ramp' | 'startedBy' | 'startedAt'
  > {
  prompts: (TrialPrompt & { text: string })[]
}

/** A candidate that is served now. */
export interface ServedTrial {
  id: string
  share: number
  commitSha: string
  promptId: number
  blob: string
  /** The bytes of its text. */
  size: number
}

export interface Exposures extends Record<Arm, number> {
  trial: string
  share: number
}

/** What the processes with one key have served by one share, and how many processes reported it. */
export interface KeyExposures extends ArmCounts {
  keyId: number | null
  sources: number
}

/** What does not come in the promised share. */
export type Mismatch = 'voters' | 'exposures'

/** What the judge found about a trial when it looked last. */
export interface TrialFindings {
  judgedAt: Instant
  mismatch: Mismatch | null
  arms: Record<Arm, ArmFindings>
  /** The candidate's rate minus that of the control, and its confidence sequence. Null until both arms have votes. */
  difference: number | null
  interval: [low: number, high: number] | null
  /** About how many days until there is a verdict at today's traffic. Null if there is one, or if that is not known. */
  daysLeft: number | null
}

export interface ArmFindings {
  /** Units that were served by this arm, each process counting for itself. Without those of a key that is left out. */
  exposures: number
  /** The first votes of so many voters. */
  voters: number
  positive: number
}

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
}

/** A vote that counts for a trial. */
export interface TrialVote extends VotePosition {
  voter: string
  isPositive: boolean
  version: string
  /** Null unless it was asked for. */
  metadata: string | null
}

export interface StoredProgress {
  /** Counts the times it was saved. */
  revision: number
  progress: TrialProgress
}

type TrialKey = Pick<Trial, 'organisationId' | 'id'>

export interface TrialChange {
  state?: TrialState
  /** By people, it also ends the ramp, which would undo it. By the judge, it is dropped if someone has changed the share meanwhile. */
  share?: number
  ending?: TrialEnding
  verdict?: 'better' | 'worse'
  mismatch?: boolean
  findings?: TrialFindings
}

/** What a trial may have been of. */
export interface ChangeOfTrial {
  commitSha: string
  prNumber: number | null
}

export interface TrialStore {
  /**
   * Throws `TrialRunsError` if a prompt has a trial already, `tooManyTrials` if the organisation has too many, and `textsFull` if its
   * delivered texts have more than `maxBytes` with those of the trial.
   */
  start(trial: NewTrial, by: Actor, maxBytes: number): Promise<Trial>
  find(organisationId: number, id: string): Promise<Trial | null>
  /** Newest first: those of the prompt, or all, unless one of their prompts is not visible. */
  page(
    organisationId: number,
    promptId: number | null,
    visible: number[] | null,
    state: TrialState | null,
    request: PageRequest,
  ): Promise<{ trials: Trial[]; totalCount: number }>
  /** Whether the prompt has ever had a trial. */
  isTried(prompt: Pick<Prompt, 'id' | 'organisationId'>): Promise<boolean>
  /** The trials of these commits, or of these pull requests, on the prompt, newest first. */
  ofChanges(prompt: Pick<Prompt, 'id' | 'organisationId'>, changes: readonly ChangeOfTrial[]): Promise<Trial[]>
  /** The trials that run or are paused: in one organisation, or in all. */
  active(organisationId: number | null): Promise<Trial[]>
  /**
   * Stores what changed, and opens a notice of each event. Returns null, and changes nothing, if the trial has ended. `by` is undefined for
   * what the judge does, which is not audited.
   */
  change(trial: Trial, change: TrialChange, events: TrialEvent[], at: Instant, by?: Actor): Promise<Trial | null>
  served(organisationId: number): Promise<ServedTrial[]>
  /** The candidate's texts of these trials and prompts. */
  texts(
    organisationId: number,
    trialIds: string[],
    promptIds: number[],
  ): Promise<{ trialId: string; promptId: number; text: string }[]>
  /** Keeps the largest counts of a source of the key. Unknown trials are ignored. */
  recordExposures(organisationId: number, keyId: number, source: string, exposures: Exposures[]): Promise<void>
  /** The sums over all sources of each key, by share. */
  exposures(trial: TrialKey): Promise<KeyExposures[]>
  /** The first votes after a position that name a voter and a version of the trial, in the order of time. */
  votes(trial: Trial, after: VotePosition, limit: number, options?: { withMetadata: boolean }): Promise<TrialVote[]>
  /** The last votes on the live versions before the trial started, up to 100. */
  votesBefore(trial: Trial): Promise<Tally>
  /** Stores the controls of these prompts. */
  pinControls(trial: Trial, promptIds: number[]): Promise<void>
  /** Null if nothing was counted yet, or if a signal was deleted since. */
  progress(trial: TrialKey): Promise<StoredProgress | null>
  /** Starts to count from the beginning. */
  startProgress(trial: TrialKey, progress: TrialProgress): Promise<void>
  /** Stores the counts, and whose votes were added. False if another process has saved since, or the trial has ended. */
  saveProgress(trial: TrialKey, stored: StoredProgress, voters: string[]): Promise<boolean>
  /** Those of the voters whose votes are counted already. */
  counted(trial: TrialKey, voters: string[]): Promise<Set<string>>
  /** Labels to act upon. Organisations take turns. */
  dueLabels(now: Instant, limit: number): Promise<PendingLabel[]>
  /** Stores which trial the label has now, and when to act upon it again; null if that is done. */
  finishLabel(label: PendingLabel, trialId: string | null, dueAt: Instant | null): Promise<void>
  /** Makes the owner the only process that judges trials, until then. False if another one is. */
  claimJudging(owner: string, now: Instant, until: Instant): Promise<boolean>
  releaseJudging(owner: string): Promise<void>
}

/** What people are told about a trial. */
export type TrialEvent = 'started' | 'better' | 'worse' | 'stopped' | 'mismatch'

export function generateTrialId(): string {
  return `trl_${randomBase62(24)}`
}

export function isTrialId(text: string): boolean {
  return /^trl_[0-9A-Za-z]{24}$/.test(text)
}

/** Shares are stored in millionths, so that every process assigns units by the same number. */
export function validShare(field: string, share: number): number {
  if (!(share >= 0 && share <= 1)) throw invalidField(field, 'must be from 0 to 1, such as 0.1 for 10%')
  return Math.round(share * 1_000_000) / 1_000_000
}

const maxRampSteps = 10
const maxRampVotes = 1_000_000

export function validRamp({ shares, votes }: Ramp): Ramp {
  if (shares.length < 1 || shares.length > maxRampSteps) {
    throw invalidField('ramp.shares', `must have 1 to ${maxRampSteps} items`)
  }
  const valid = shares.map((share) => validShare('ramp.shares', share))
  if (valid.some((share, i) => share <= (valid[i - 1] ?? 0)))
    throw invalidField('ramp.shares', 'must rise from above 0')
  if (!Number.isInteger(votes) || votes < 1 || votes > maxRampVotes) {
    throw invalidField('ramp.votes', `must be a number from 1 to ${maxRampVotes}`)
  }
  return { shares: valid, votes }
}

/** A prompt has one trial at a time. */
export class TrialRunsError extends DomainError {
  readonly trialId: string

  constructor(trialId: string, promptName: string) {
    super('conflict', `Trial ${trialId} already runs on the prompt ${promptName}. End it first.`)
    this.trialId = trialId
  }
}

/** Each one is looked at every few seconds. */
export const maxActiveTrials = 20

export function tooManyTrials(): DomainError {
  return new DomainError(
    'conflict',
    `This organisation already has ${maxActiveTrials} trials that run or are paused, the most it may have. End one first.`,
  )
}

export function trialEnded(id: string): DomainError {
  return new DomainError('conflict', `Trial ${id} has ended. Start a new one.`)
}

/** Whether a key that sees only these prompts may read the trial; null for all prompts. */
export function isVisibleTrial({ prompts }: Pick<Trial, 'prompts'>, visible: readonly number[] | null): boolean {
  return visible === null || prompts.every(({ prompt }) => visible.includes(prompt.id))
}

/** The share that units are assigned by now. */
export function servedShare({ state, share }: Pick<Trial, 'state' | 'share'>): number {
  return state === 'running' ? share : 0
}

/** The arms in which the votes and units of a trial are counted. */
export function emptyArms<Value>(create: () => Value): Record<Arm, Value> {
  return { control: create(), candidate: create() }
}
