import { isUtf8 } from 'node:buffer'
import { hash } from 'node:crypto'
import type { Access } from '../domain/access/api-key.ts'
import type { Plan, PlanLimits } from '../domain/access/plan.ts'
import { DomainError, invalid } from '../domain/errors.ts'
import { limitContainers } from '../domain/json-containers.ts'
import type { Prompt } from '../domain/prompt.ts'
import { findPrompt } from '../domain/prompt-reference.ts'
import type { Vault } from '../domain/repositories/vault.ts'
import { detailsOf } from '../domain/signals/details.ts'
import { type RecordSignal, recordSignal } from '../domain/signals/signal.ts'
import { maxLabelLength, versionMember } from '../domain/signals/version.ts'
import type { Voters } from '../domain/signals/voter.ts'
import { type Source, sourcePlace } from '../domain/sources/source.ts'
import type { Store } from '../domain/store.ts'
import { isLongerThan } from '../domain/text.ts'
import type { Clock, Instant } from '../domain/time.ts'
import { authenticationProblem, type Headers } from './authentication.ts'
import { adapters } from './index.ts'
import { eventsIn, type IgnoredEvent, type MappedEvent, mapEvent, type RejectedEvent, textAt } from './mapping.ts'

export interface ReceiveContext {
  store: Pick<Store, 'signals' | 'prompts'>
  vault: Vault
  voters: Voters
  planLimits: PlanLimits
  clock: Clock
}

export interface SentEvents {
  headers: Headers
  body: Buffer
}

/** What became of the events of one request. */
export interface Received {
  received: number
  recorded: number
  /** Sent before, or a newer vote on the same subject, which replaces the earlier one. Not counted again. */
  repeated: number
  /** Not feedback, or neither positive nor negative. */
  ignored: number
  rejected: number
  /** Why the first ones were rejected. `event` is the place in the request, from 0. */
  errors: { event: number; message: string }[]
}

export type SourceOfPlan = Source & { plan: Plan }

export const maxEvents = 1_000
const maxErrors = 10

/** Why the request is not from the source. Null if it is. */
export function problemWith(
  { vault, clock }: Pick<ReceiveContext, 'vault' | 'clock'>,
  source: Source,
  { headers, body }: SentEvents,
): string | null {
  if (source.sealedSecret === null) return 'the source has no secret yet: set the one that the product shows'
  const secret = vault.decrypt(source.sealedSecret, sourcePlace(source))
  return authenticationProblem(adapters[source.adapter].authentication, secret, headers, body, clock())
}

/** Parses the body: JSON, or a form with JSON in `payload`, as Slack sends clicks on buttons. */
export function parsePayload({ headers, body }: SentEvents): unknown {
  if (!isUtf8(body)) throw invalid('The body is not valid UTF-8')
  const isForm = String(headers['content-type']).startsWith('application/x-www-form-urlencoded')
  const text = isForm ? (new URLSearchParams(body.toString()).get('payload') ?? '') : body.toString()
  limitContainers(isForm ? Buffer.from(text) : body)
  try {
    return JSON.parse(text)
  } catch {
    throw invalid('The body is not valid JSON')
  }
}

/** What the response must repeat, if the request only checks the URL. Otherwise null. */
export function challengeIn({ adapter }: Source, payload: unknown): Record<string, string> | null {
  const { challenge } = adapters[adapter]
  if (challenge === undefined || textAt(payload, challenge.at) !== challenge.is) return null
  return { [challenge.member]: textAt(payload, `$.${challenge.member}`) ?? '' }
}

/** Records the events of a request whose sender is known. A repeated request changes nothing. */
export async function receiveEvents(
  context: ReceiveContext,
  source: SourceOfPlan,
  payload: unknown,
): Promise<Received> {
  const adapter = adapters[source.adapter]
  const events = eventsIn(adapter, source.settings, payload)
  if (events.length > maxEvents) throw invalid(`A request may have at most ${maxEvents} events`)
  const now = context.clock()
  const prepared: (RecordSignal | 'ignored' | DomainError)[] = []
  const prompts = promptFinder(context, source)
  // One after the other, so that a request takes one connection to the database.
  for (const event of events) {
    const mapped = mapEvent(adapter, source.settings, event)
    prepared.push(
      mapped.kind === 'vote'
        ? await prepare(context, source, mapped, prompts, now).catch(rejectionOf)
        : outcomeOf(mapped),
    )
  }
  // All at once: the store commits them in few transactions.
  const outcomes = await Promise.allSettled(prepared.map((signal) => record(context, source, signal, now)))
  const failures = outcomes.flatMap((outcome, event) =>
    outcome.status === 'rejected' ? [{ event, error: rejectionOf(outcome.reason) }] : [],
  )
  const countOf = (kind: string) =>
    outcomes.filter((outcome) => outcome.status === 'fulfilled' && outcome.value === kind).length
  // The sender retries later, and what was recorded before is not recorded again.
  const limited = failures.find(({ error }) => error.code === 'rate_limited')
  if (limited !== undefined && countOf('recorded') === 0) throw limited.error
  return {
    received: events.length,
    recorded: countOf('recorded'),
    repeated: countOf('repeated'),
    ignored: countOf('ignored'),
    rejected: failures.length,
    errors: failures.slice(0, maxErrors).map(({ event, error }) => ({ event, message: error.message })),
  }
}

type FindPrompt = (reference: string) => Promise<Prompt | null>

/** Looks up each prompt of a request once. */
function promptFinder({ store }: ReceiveContext, source: SourceOfPlan): FindPrompt {
  const known = new Map<string, Promise<Prompt | null>>()
  return (reference) => {
    const found = known.get(reference) ?? findPrompt(store.prompts, accessOf(source), reference)
    known.set(reference, found)
    return found
  }
}

/** The signal that a vote is recorded as. */
async function prepare(
  { voters }: ReceiveContext,
  source: SourceOfPlan,
  mapped: MappedEvent,
  promptOf: FindPrompt,
  now: Instant,
): Promise<RecordSignal> {
  const prompt = await promptOf(mapped.prompt)
  if (prompt === null) {
    throw invalid(`no prompt has the ID, path or name ${JSON.stringify(mapped.prompt.slice(0, 100))}`)
  }
  const { value, subject, voter, version, comment, time, id } = mapped
  for (const [field, text] of Object.entries({ subject, voter, version })) {
    if (text !== null && isLongerThan(text, maxLabelLength)) {
      throw invalid(`the ${field} is longer than ${maxLabelLength} characters`)
    }
  }
  const details = await detailsOf(
    // Other systems number versions as they like, which labels in metadata allow for.
    { subject, voter, comment, occurredAt: time, metadata: version === null ? null : { [versionMember]: version } },
    (text) => voters.hash(source.organisationId, text),
    now,
  )
  return {
    prompt,
    value,
    // Finds and erases the signals of one source.
    metadata: JSON.stringify({ source: source.publicId }),
    details,
    body: fingerprintOf(mapped),
    idempotencyKey: id === null ? undefined : `${source.publicId}:${hash('sha256', id, 'base64url')}`,
  }
}

async function record(
  { store, planLimits }: ReceiveContext,
  source: SourceOfPlan,
  signal: RecordSignal | 'ignored' | DomainError,
  now: Instant,
): Promise<'recorded' | 'repeated' | 'ignored'> {
  if (signal === 'ignored') return signal
  if (signal instanceof DomainError) throw signal
  try {
    const { allowance } = await recordSignal(store.signals, accessOf(source), planLimits, signal, now)
    return allowance === null ? 'repeated' : 'recorded'
  } catch (error) {
    const isUnknownVote = signal.value === null && error instanceof DomainError && error.code === 'not_found'
    if (isUnknownVote) return 'ignored'
    throw error
  }
}

function outcomeOf(outcome: IgnoredEvent | RejectedEvent): 'ignored' | DomainError {
  return outcome.kind === 'ignored' ? outcome.kind : invalid(outcome.reason)
}

/** Without the voter, whose hash must not be guessed from what is stored with the key. */
function fingerprintOf({ value, subject, version, comment, time }: MappedEvent): string {
  return JSON.stringify([value, subject, version, comment, time])
}

/** What a source may do: record signals of every prompt of its organisation. The ID is below those of keys. */
export function accessOf({ id, organisationId, plan }: SourceOfPlan): Access {
  return { keyId: -id, role: 'ingest', prompts: null, expiresAt: null, revokedAt: null, organisationId, plan }
}

/** A failure of the service rejects the whole request, so that the sender retries. */
function rejectionOf(reason: unknown): DomainError {
  if (reason instanceof DomainError && reason.code !== 'internal_error') return reason
  throw reason
}
