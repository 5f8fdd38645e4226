import { hash } from 'node:crypto'
import type { Access } from '../access/api-key.ts'
import type { Actor } from '../access/audit.ts'
import type { PlanLimits } from '../access/plan.ts'
import { DomainError, invalidField } from '../errors.ts'
import { monthlyLimitError } from '../limit-error.ts'
import type { PageRequest } from '../page.ts'
import type { Prompt } from '../prompt.ts'
import { type Instant, nextMonthStart } from '../time.ts'
import type { ContentFilter } from './content-filter.ts'
import type { ErasureStore } from './erasure.ts'
import type { Interval, Span } from './interval.ts'
import { nestingDepth } from './json-text.ts'
import type { RetentionStore } from './retention.ts'
import type { HourlySums, Tally } from './tally.ts'
import type { VersionText } from './version.ts'

export const signalValues = ['positive', 'negative'] as const

export type SignalValue = (typeof signalValues)[number]

export interface Signal {
  id: number
  /** Null for a vote that was withdrawn. */
  value: SignalValue | null
  /** When the signal arrived. It counts towards the limit of that month. */
  createdAt: Instant
}

/** What a request may say about a signal beyond its value and metadata. Each is null if it was not sent. */
export interface SignalDetails {
  version: VersionText | null
  /** What was voted on. A prompt has one vote per subject. */
  subject: string | null
  /** A hash of who voted. */
  voter: string | null
  comment: string | null
  /** When the user voted: the time that the signal counts for in all statistics. Null for the time of arrival. */
  occurredAt: Instant | null
  traceId: string | null
}

export interface NewSignal {
  organisationId: number
  promptId: number
  value: SignalValue
  /** JSON text, stored exactly as sent. */
  metadata: string | null
  createdAt: Instant
  /** Absent or null if nothing of it was sent. */
  details?: SignalDetails | null | undefined
}

export interface SignalToRecord extends Omit<NewSignal, 'value'> {
  /** Null withdraws the vote on the subject. */
  value: SignalValue | null
  /** How many signals the organisation may record in the month of `createdAt`. Null for any number. */
  limit: number | null
  idempotency: { key: string; fingerprint: string } | null
}

export type RecordOutcome =
  /** `used` is the organisation's count for the month, including this signal. Any number if it has no limit. */
  | { kind: 'recorded'; id: number; createdAt: Instant; used: number }
  /** Replaced or withdrew the vote on the subject, which is not counted again. `createdAt` is that of the first vote. */
  | { kind: 'replaced'; id: number; createdAt: Instant }
  /** The idempotency key was used for the same request: returns the original result. */
  | { kind: 'repeated'; id: number; createdAt: Instant; original: 'recorded' | 'replaced' }
  /** The idempotency key was used for a different request. */
  | { kind: 'key_reused' }
  /** A withdrawal of a vote that does not exist. */
  | { kind: 'unknown_subject' }
  | { kind: 'over_limit'; used: number }

export interface SignalImport {
  /** How many signals were added. */
  imported: number
  /** How many existing votes were replaced, which are not counted again. */
  replaced: number
}

/** A signal with everything that was sent with it. */
export interface StoredSignal extends Signal, SignalDetails {
  value: SignalValue
  metadata: string | null
  occurredAt: Instant
}

/** A null field matches every signal. `since` is inclusive, `until` exclusive. */
export interface SignalFilter {
  value: SignalValue | null
  since: Instant | null
  until: Instant | null
  /** Signals with any of these versions, as stored. Never empty. */
  versions?: VersionText[] | null
  /** Only for `stream` and `searchNext`: nothing counts matches. */
  content?: ContentFilter | null
}

/** A place in the list of signals, which is sorted by the time that they count for, then by ID. */
export interface SignalCursor {
  at: Instant
  id: number
}

/** Which signals count for a change: those that name a version of it, and those of the times in which it was live. */
export interface VoteWindow {
  versions: readonly VersionText[]
  spans: readonly Span[]
  /** Whether signals in the spans that name a version count for another change. */
  unversionedOnly: boolean
  /** Signals from this time on do not count. */
  until: Instant
}

export type SignalSearchFilter = SignalFilter & { content: ContentFilter }

/** Which signals of a window to read. */
interface WindowSlice {
  value: SignalValue | null
  skip: number
  limit: number
}

interface SearchedSlice {
  /** Newest first. */
  matches: StoredSignal[]
  examined: number
  /** The oldest signal examined. Null if there are no older ones. */
  last: SignalCursor | null
}

export interface PromptSpan extends Span {
  promptId: number
}

export interface IntervalTally extends Tally {
  start: Instant
}

interface PromptInstant {
  promptId: number
  at: Instant
}

interface PromptVersion {
  promptId: number
  version: VersionText
}

export interface VersionTally extends Tally {
  version: VersionText
}

export interface SignalStore extends ErasureStore, RetentionStore {
  /** Durable and counted once it resolves. The monthly limit is exact, however many processes record at once. */
  record(signal: SignalToRecord): Promise<RecordOutcome>
  /** The same without a promise. One of the callbacks is called, always later. */
  enqueue(signal: SignalToRecord, done: (outcome: RecordOutcome) => void, failed: (error: unknown) => void): void
  /**
   * Stores all signals, or none if the source fails. Each counts in its own month, without a limit. A signal on a subject replaces
   * the vote on it, and the last one of a subject wins. With `audit`, the audit log says who imported signals of that prompt.
   */
  import(batches: AsyncIterable<NewSignal[]>, audit?: SignalImportAudit): Promise<SignalImport>
  /** Newest first, back to the start of retention. */
  page(prompt: Prompt, filter: SignalFilter, request: PageRequest): Promise<SignalPage>
  /** The signals of a window in this span, newest first, of those that it retains. Examines all signals of the span. */
  windowSignals(prompt: Prompt, window: VoteWindow, span: Span, slice: WindowSlice): Promise<StoredSignal[]>
  /** Oldest first. Reads in batches so memory use stays constant. */
  stream(prompt: Prompt, filter: SignalFilter): AsyncIterable<StoredSignal[]>
  /** Deletes a signal from all stats except the month's usage. False if it does not exist. */
  delete(prompt: Prompt, id: number, at: Instant, by: Actor): Promise<boolean>
  /** The intervals of the span that have signals, in order. Signals count by whole hours at both ends of the span. */
  tallyByInterval(prompt: Prompt, span: Span, interval: Interval): Promise<IntervalTally[]>
  /**
   * The signals in each span, exact to the millisecond within retention. Before that, all signals of an hour count towards the
   * span that starts in it.
   */
  tallies(organisationId: number, spans: PromptSpan[]): Promise<Tally[]>
  /** All signals with each of the versions, of the hours before `until`. Compares versions as stored. */
  versionTallies(organisationId: number, versions: PromptVersion[], until?: Instant): Promise<Tally[]>
  /**
   * The versions that signals of the prompt name, up to `maxVersions`, those with most signals first. Considers the newest
   * `maxVersionHours` hourly sums, so that a prompt with endless versions cannot make this slow.
   */
  versionsOf(prompt: Prompt): Promise<VersionTally[]>
  /** The hourly sums of a prompt before the hour `until`. Those that are older than eleven years are by day. */
  hourlySums(prompt: Prompt, until: Instant): Promise<HourlySums>
  /** For each prompt, up to `limit` hourly sums with signals before the hour of `at`, and as many from that hour on. */
  hourlySumsAround(organisationId: number, instants: PromptInstant[], limit: number): Promise<HourlySums[]>
  /** The hourly sums of each version in whole hours. Compares versions as stored. */
  hourlySumsOfVersions(organisationId: number, versions: (PromptVersion & Span)[]): Promise<HourlySums[]>
  /** In each span, the hourly sums of all signals with a version. Covers the whole hours in which the span starts and ends. */
  versionedHourlySums(organisationId: number, spans: PromptSpan[]): Promise<HourlySums[]>
  /**
   * The versions that signals of the prompt name, up to `maxVersions` + 1, in no particular order. Cached: it may lack versions that
   * have been recorded since the list was returned for the first time.
   */
  versionNames(prompt: Prompt): Promise<VersionText[]>
  /** The versions that signals of these hours name. Null if there are too many hourly sums to read. */
  versionNamesSince(prompt: Prompt, since: Instant): Promise<VersionText[] | null>
  /** Counts the retained signals of a span, which should be short, by their version. */
  countByVersion(prompt: Prompt, span: Span): Promise<(Tally & { version: VersionText | null })[]>
  /** For each instant, the retained signals without a version of its hour that came before it. */
  startedHours(organisationId: number, instants: PromptInstant[]): Promise<Tally[]>
  /** The versions of the prompt's signals that start like this. Null if there are more than `maxNames`. */
  versionsStartingWith(prompt: Prompt, start: string): Promise<VersionText[] | null>
  /** Which of these prompts have signals that name a version. */
  versionedPrompts(organisationId: number, promptIds: number[]): Promise<Set<number>>
  /** For each prompt, the UTC days with signals, in order. `since` is the start of a day. All prompts share one organisation. */
  tallyByDay(prompts: Prompt[], since: Instant): Promise<IntervalTally[][]>
  /** Examines the next few hundred signals that are older than the cursor, newest first. */
  searchNext(prompt: Prompt, filter: SignalSearchFilter, before: SignalCursor | null): Promise<SearchedSlice>
  /** How many signals the organisation recorded in the month of `at`. */
  usedInMonth(organisationId: number, at: Instant): Promise<number>
}

export interface SignalImportAudit {
  prompt: Prompt
  at: Instant
  by: Actor
}

export interface SignalPage {
  signals: StoredSignal[]
  totalCount: number
}

/** How many versions `versionsOf` returns, and how many hourly sums it reads. */
export const maxVersions = 5_000
export const maxVersionHours = 50_000
/** How many versions may start alike. A commit has 34 names, and few are used. */
export const maxNames = 50

const maxMetadataBytes = 16 * 1024
const maxMetadataDepth = 64
const idempotencyKey = /^[\x21-\x7e]{1,255}$/

export function validMetadata(text: string): string {
  if (text.length > maxMetadataBytes || Buffer.byteLength(text) > maxMetadataBytes) {
    throw invalidField('metadata', `must be at most ${maxMetadataBytes} bytes of JSON`)
  }
  if (nestingDepth(text) > maxMetadataDepth) {
    throw invalidField('metadata', `must be nested at most ${maxMetadataDepth} levels deep`)
  }
  return text
}

export interface RecordSignal {
  prompt: Prompt
  /** Null withdraws the vote on the subject. */
  value: SignalValue | null
  metadata: string | null
  details: SignalDetails | null
  /** The request exactly as sent, or a hash of it. A repeated request must have the same one. */
  body: string
  idempotencyKey: string | undefined
}

/** The state of the monthly limit. */
export interface Allowance {
  /** Null if there is none. */
  limit: number | null
  used: number
  resetsAt: Instant
}

export interface RecordedSignal {
  signal: Signal
  /** False if the request replaced or withdrew a vote. */
  isNew: boolean
  /** Null if the request counted nothing. */
  allowance: Allowance | null
}

/** Records one signal. Throws if the month's limit is reached or the idempotency key is unusable. */
export async function recordSignal(
  signals: SignalStore,
  access: Access,
  planLimits: PlanLimits,
  signal: RecordSignal,
  now: Instant,
): Promise<RecordedSignal> {
  const toRecord = signalToRecord(access, planLimits, signal, now)
  return recordedSignal(toRecord, await signals.record(toRecord))
}

/** The first half of `recordSignal`: what the store is asked to record. */
export function signalToRecord(
  access: Access,
  planLimits: PlanLimits,
  { prompt, value, metadata, details, body, idempotencyKey: key }: RecordSignal,
  now: Instant,
): SignalToRecord {
  if (key !== undefined && !idempotencyKey.test(key)) {
    throw invalidField('idempotencyKey', 'must be 1 to 255 visible ASCII characters')
  }
  if (value === null && (details === null || details.subject === null)) {
    // Null withdraws the vote on a subject, and nothing else.
    throw invalidField('value', 'must be "positive" or "negative"')
  }
  return {
    organisationId: access.organisationId,
    promptId: prompt.id,
    value,
    metadata,
    createdAt: now,
    details,
    limit: planLimits[access.plan],
    idempotency: key === undefined ? null : { key, fingerprint: fingerprint(prompt, body) },
  }
}

/** The second half: what the outcome means for the sender. */
export function recordedSignal(
  { value, limit, createdAt: now }: SignalToRecord,
  outcome: RecordOutcome,
): RecordedSignal {
  switch (outcome.kind) {
    case 'recorded':
      return {
        signal: { id: outcome.id, value, createdAt: outcome.createdAt },
        isNew: true,
        allowance: { limit, used: outcome.used, resetsAt: nextMonthStart(now) },
      }
    case 'replaced':
    case 'repeated': {
      const isNew = outcome.kind === 'repeated' && outcome.original === 'recorded'
      return { signal: { id: outcome.id, value, createdAt: outcome.createdAt }, isNew, allowance: null }
    }
    case 'unknown_subject':
      throw new DomainError('not_found', 'There is no vote on this subject to withdraw.')
    case 'key_reused':
      throw invalidField('idempotencyKey', 'was already used with a different prompt or body. Use a new key')
    case 'over_limit':
      // Only a limit can be exceeded.
      throw monthlyLimitError(limit as number, outcome.used, nextMonthStart(now))
  }
}

/** Uses the public ID, which survives moving the organisation to another database. */
function fingerprint(prompt: Prompt, body: string): string {
  return hash('sha256', `${prompt.publicId} ${body}`, 'base64url')
}

/** How many signals one request may record. */
export const maxBatchSignals = 1_000

/** A thousand signals of 2 KB each. Parsing this much JSON takes about 20 ms; json-bodies.ts rejects what would take much longer. */
export const maxBatchBytes = 2 * 1024 * 1024
