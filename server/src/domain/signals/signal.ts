import { hash } from 'node:crypto'
import type { Access } from '../access/api-key.ts'
import type { Actor } from '../access/audit.ts'
import { monthlySignalLimit } from '../access/plan.ts'
import { DomainError, invalid } from '../errors.ts'
import type { PageRequest } from '../page.ts'
import type { Prompt } from '../prompt.ts'
import { type Instant, isoTime, nextMonthStart } from '../time.ts'
import type { ErasureStore } from './erasure.ts'
import type { Interval, Span } from './interval.ts'
import { nestingDepth } from './json-text.ts'
import type { RetentionStore } from './retention.ts'
import type { Tally } from './tally.ts'

export const signalValues = ['positive', 'negative'] as const

export type SignalValue = (typeof signalValues)[number]

export interface Signal {
  id: number
  value: SignalValue
  createdAt: Instant
}

export interface NewSignal {
  organisationId: number
  promptId: number
  value: SignalValue
  /** JSON text, kept as it was sent. */
  metadata: string | null
  createdAt: Instant
}

export interface SignalToRecord extends NewSignal {
  /** Signals that the organisation may record in the month of `createdAt`. */
  limit: number
  idempotency: { key: string; fingerprint: string } | null
}

export type RecordOutcome =
  /** `used`: what the organisation had recorded in the month right after. */
  | { kind: 'recorded'; id: number; createdAt: Instant; used: number }
  /** The idempotency key was used before, for the same request: the answer of then. */
  | { kind: 'repeated'; id: number; createdAt: Instant }
  /** The idempotency key was used before, for another request. */
  | { kind: 'key_reused' }
  | { kind: 'over_limit'; used: number }

export interface SignalImport {
  imported: number
}

/** A signal with what the caller sent along, as it was sent. */
export interface StoredSignal extends Signal {
  metadata: string | null
}

/** Signals of a value, from `since` on, before `until`. */
export interface SignalFilter {
  value: SignalValue | null
  since: Instant | null
  until: Instant | null
}

/** A span of a prompt's time. */
export interface PromptSpan extends Span {
  promptId: number
}

export interface IntervalTally extends Tally {
  start: Instant
}

export interface SignalStore extends ErasureStore, RetentionStore {
  /** Durable and counted once it resolves. The limit is exact however many processes record at once. */
  record(signal: SignalToRecord): Promise<RecordOutcome>
  /** Counts each signal in its own month and applies no limit. All signals or, where the source fails, none. */
  import(portions: AsyncIterable<NewSignal[]>): Promise<SignalImport>
  /** Newest first, as far back as signals are kept. */
  page(prompt: Prompt, filter: SignalFilter, request: PageRequest): Promise<SignalPage>
  /** Oldest first, in portions, so that memory stays flat however many there are. */
  stream(prompt: Prompt, filter: SignalFilter): AsyncIterable<StoredSignal[]>
  /** Takes a signal out of every figure but the month's usage. False where there is none. */
  retract(prompt: Prompt, id: number, at: Instant, by: Actor): Promise<boolean>
  /** The intervals of a span that have signals, in order. Of the hours that the span begins and ends in, all signals count. */
  sums(prompt: Prompt, span: Span, interval: Interval): Promise<IntervalTally[]>
  /** The signals of each span, to the millisecond; of an hour from before signals are kept, all count to the span that begins in it. */
  tallies(organisationId: number, spans: PromptSpan[]): Promise<Tally[]>
  /** For each prompt the days that have signals, UTC, in order; `since` begins a day. Prompts of one organisation. */
  days(prompts: Prompt[], since: Instant): Promise<IntervalTally[][]>
  /** Signals that the organisation recorded in the month of `at`. */
  used(organisationId: number, at: Instant): Promise<number>
}

export interface SignalPage {
  signals: StoredSignal[]
  totalCount: number
}

const largestMetadata = 16 * 1024
const deepestMetadata = 64
const idempotencyKey = /^[\x21-\x7e]{1,255}$/

export function checkMetadata(text: string): string {
  if (text.length > largestMetadata || Buffer.byteLength(text) > largestMetadata) {
    throw invalid(`metadata must be at most ${largestMetadata} bytes of JSON`)
  }
  if (nestingDepth(text) > deepestMetadata) {
    throw invalid(`metadata must be nested at most ${deepestMetadata} levels deep`)
  }
  return text
}

export interface RecordSignal {
  prompt: Prompt
  value: SignalValue
  metadata: string | null
  /** The whole body as it was sent: what makes a repeated request the same. */
  body: string
  idempotencyKey: string | undefined
}

/** What is left of the month's limit. */
export interface Allowance {
  limit: number
  used: number
  resetsAt: Instant
}

export interface RecordedSignal {
  signal: Signal
  /** Null where nothing was recorded, because the request was a repeated one. */
  allowance: Allowance | null
}

/** Records one signal for the organisation that `access` opens, or says why not. */
export async function recordSignal(
  signals: SignalStore,
  access: Access,
  { prompt, value, metadata, body, idempotencyKey: key }: RecordSignal,
  now: Instant,
): Promise<RecordedSignal> {
  if (key !== undefined && !idempotencyKey.test(key)) {
    throw invalid('The header Idempotency-Key must be 1 to 255 visible ASCII characters')
  }
  const limit = monthlySignalLimit[access.plan]
  const outcome = await signals.record({
    organisationId: access.organisationId,
    promptId: prompt.id,
    value,
    metadata,
    createdAt: now,
    limit,
    idempotency: key === undefined ? null : { key, fingerprint: fingerprint(prompt, body) },
  })
  switch (outcome.kind) {
    case 'recorded':
      return {
        signal: { id: outcome.id, value, createdAt: outcome.createdAt },
        allowance: { limit, used: outcome.used, resetsAt: nextMonthStart(now) },
      }
    case 'repeated':
      return { signal: { id: outcome.id, value, createdAt: outcome.createdAt }, allowance: null }
    case 'key_reused':
      throw invalid('The header Idempotency-Key was used before with another prompt or body: use a new one')
    case 'over_limit':
      throw overLimit(limit, outcome.used, now)
  }
}

function overLimit(limit: number, used: number, now: Instant): DomainError {
  return new DomainError(
    'rate_limited',
    `The plan's limit of ${limit} signals a month is reached. The counter resets with the next month, UTC.`,
    { limit, used, resets_at: isoTime(nextMonthStart(now)) },
  )
}

/** By the public ID, which stays the same wherever an organisation moves to. */
function fingerprint(prompt: Prompt, body: string): string {
  return hash('sha256', `${prompt.publicId} ${body}`, 'base64url')
}
