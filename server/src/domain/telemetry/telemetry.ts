import type { Prompt } from '../prompt.ts'
import type { SignalValue } from '../signals/signal.ts'
import type { Tally } from '../signals/tally.ts'
import type { VersionText } from '../signals/version.ts'
import type { Instant } from '../time.ts'
import type { RejectionReason } from './evaluation.ts'
import type { EvaluationRuleStore } from './evaluation-rule.ts'

/** A call of a model with a prompt: what is kept of a span. */
export interface Call {
  traceId: string
  spanId: string
  promptId: number
  version: VersionText | null
  model: string | null
  responseId: string | null
  at: Instant
}

/** What a trace, a span or a response belongs to. */
export type CallLink = Pick<Call, 'traceId' | 'spanId' | 'promptId' | 'version' | 'model' | 'responseId'>

/** A score of a judge, which is counted by the hour and not stored itself. */
export interface JudgeScore extends Pick<Call, 'promptId' | 'version' | 'at'> {
  eventId: string
  /** Of the evaluation. */
  name: string
  value: SignalValue
}

export const telemetryKinds = ['logs', 'spans'] as const

export type TelemetryKind = (typeof telemetryKinds)[number]

/** What became of a record: stored, stored before, not about a prompt, or rejected for a reason. */
export const outcomes = ['recorded', 'repeated', 'ignored', 'waiting'] as const

export type Outcome = (typeof outcomes)[number] | RejectionReason

/** How many records of an organisation had the same outcome for the same name. */
export interface OutcomeCount {
  kind: TelemetryKind
  outcome: Outcome
  /** What it is about: the name of a prompt or an evaluation. Empty for what was not rejected. */
  detail: string
  records: number
}

export interface StoredOutcome extends OutcomeCount {
  firstAt: Instant
  lastAt: Instant
}

/** An evaluation whose span has not arrived yet, as it was read. */
interface WaitingEvaluation extends Pick<Call, 'traceId' | 'responseId'> {
  eventId: string
  document: string
}

/** How often a prompt was called. */
interface Exposures {
  byVersion: Map<VersionText, number>
  /** Calls that name no version, in the order of time. */
  unversioned: { hour: Instant; calls: number }[]
}

/** Scores of judges. `hour` is 0 for all scores with a version, and `version` empty for those without. */
export interface ScoreTally extends Tally {
  name: string
  version: VersionText | ''
  hour: Instant
}

/** Calls of an hour with one model. */
export interface ModelHour {
  hour: Instant
  model: string
  calls: number
}

/** All of it ages: links, and what tells repeated events apart, are removed after some days. Sums by the hour stay. */
export interface TelemetryStore extends EvaluationRuleStore {
  /** Stores calls, and counts those that are new as exposures. Returns them. */
  recordCalls(organisationId: number, calls: Call[]): Promise<Call[]>
  /**
   * Counts scores towards the monthly limit and in sums of their own, each once. If not all fit, the first ones are counted. Returns the
   * IDs of those that are counted now, and of those that did not fit.
   */
  recordScores(
    organisationId: number,
    scores: JudgeScore[],
    limit: number | null,
    now: Instant,
  ): Promise<{ recorded: Set<string>; overLimit: Set<string> }>
  /** What is known about these traces and responses, the newest last. Of each few hundred, the newest 5,000. */
  links(organisationId: number, traceIds: string[], responseIds: string[]): Promise<CallLink[]>
  /** False, and adds nothing, if too many are waiting already. */
  addWaiting(organisationId: number, waiting: WaitingEvaluation[], now: Instant): Promise<boolean>
  /** The documents of what waits for these traces and responses, up to 1,000. */
  waiting(organisationId: number, traceIds: string[], responseIds: string[]): Promise<string[]>
  removeWaiting(organisationId: number, eventIds: string[]): Promise<void>
  /** Removes a batch of what has waited since before then. Returns how many. */
  expireWaiting(organisationId: number, before: Instant): Promise<number>
  /** Keeps up to 200 counts of an organisation. */
  countOutcomes(organisationId: number, counts: OutcomeCount[], now: Instant): Promise<void>
  /** The newest first. */
  outcomes(organisationId: number): Promise<StoredOutcome[]>
  /**
   * The calls of a prompt before `until`: one sum for each version, the 5,000 with the most calls, and those without a version by hour, the
   * newest 20,000. Null for a prompt without any.
   */
  exposures(prompt: Pick<Prompt, 'id' | 'organisationId'>, until: Instant): Promise<Exposures | null>
  /** The scores of judges before `until`, likewise: by evaluation, one sum for each version, and those without a version by hour. */
  scores(prompt: Pick<Prompt, 'id' | 'organisationId'>, until: Instant): Promise<ScoreTally[]>
  /** In the order of time, those with a model before `until`: the newest 20,000. */
  modelHours(prompt: Pick<Prompt, 'id' | 'organisationId'>, until: Instant): Promise<ModelHour[]>
  /** Removes a batch of what is older than this, and of links beyond the largest number of an organisation. False once none are left. */
  removeTelemetry(organisationId: number, before: Instant): Promise<boolean>
  /** The organisations that something may have to be removed of. */
  senders(): Promise<number[]>
}
