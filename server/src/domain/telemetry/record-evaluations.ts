import type { Access } from '../access/api-key.ts'
import type { PlanLimits } from '../access/plan.ts'
import { InvalidFieldError } from '../errors.ts'
import { LimitError } from '../limit-error.ts'
import { matchesPromptGlob, type Prompt } from '../prompt.ts'
import { maxClockSkewMs } from '../signals/details.ts'
import { type RecordSignal, recordSignal } from '../signals/signal.ts'
import type { Store } from '../store.ts'
import { day, type Instant } from '../time.ts'
import { type CallIds, readCalls } from './call-links.ts'
import type { Evaluation, Rejection } from './evaluation.ts'
import type { OutcomeCounts } from './outcome-counts.ts'
import { createPromptLookup, isPrompt } from './prompt-lookup.ts'
import type { CallLink } from './telemetry.ts'

export interface TelemetryContext {
  store: Pick<Store, 'telemetry' | 'signals' | 'prompts'>
  access: Access
  planLimits: PlanLimits
  now: Instant
  /** How long links and the IDs of events are kept: a record that is older is not accepted, so that none counts twice. */
  days: number
}

/** An evaluation, with what its sender says about everything that it sends. */
export interface ReceivedEvaluation extends Evaluation {
  /** The prompt of the resource, if neither the event nor its span names one. */
  fallback: string | null
}

/** One that arrived before the span of its call. */
interface WaitingEvaluation extends ReceivedEvaluation {
  /** The prompts that the key of its sender is limited to. */
  sender: string | null
}

interface Attributed {
  evaluation: ReceivedEvaluation
  prompt: Prompt
  link: CallLink | null
  at: Instant
}

/** Why a record cannot count for its time; null if it can. */
export function timeProblem(at: Instant, { now, days }: Pick<TelemetryContext, 'now' | 'days'>): Rejection | null {
  if (at > now + maxClockSkewMs) return { reason: 'in_future', detail: '' }
  return at < now - days * day ? { reason: 'too_old', detail: '' } : null
}

/**
 * Records the votes of people as signals, and counts the scores of judges on their own. What waits for its span is stored until that
 * arrives, unless `mayWait` is false.
 */
export async function recordEvaluations(
  context: TelemetryContext,
  evaluations: readonly ReceivedEvaluation[],
  outcomes: OutcomeCounts,
  { mayWait = true } = {},
): Promise<void> {
  if (evaluations.length === 0) return
  const { now } = context
  const attribute = await createAttribution(context, evaluations)
  const attributed: Attributed[] = []
  const waiting: ReceivedEvaluation[] = []
  for (const evaluation of evaluations) {
    const at = Math.min(evaluation.at ?? now, now)
    const found = timeProblem(evaluation.at ?? now, context) ?? (await attribute(evaluation))
    if (!('reason' in found)) attributed.push({ evaluation, ...found, at })
    else if (found.reason === 'unknown_span' && mayWait) waiting.push(evaluation)
    else outcomes.add(found.reason, found.detail)
  }
  const [people, judges] = [
    attributed.filter(({ evaluation }) => evaluation.source === 'people'),
    attributed.filter(({ evaluation }) => evaluation.source === 'judge'),
  ]
  await recordVotes(context, people, outcomes)
  await recordScores(context, judges, outcomes)
  if (waiting.length > 0) await wait(context, waiting, outcomes)
}

/** Finds the prompt of an evaluation: the one that it names, else that of its response or span, else that of the resource. */
async function createAttribution({ store, access }: TelemetryContext, evaluations: readonly ReceivedEvaluation[]) {
  const lookUp = createPromptLookup(store.prompts, access)
  const isIncomplete = ({ prompt, version }: ReceivedEvaluation) => prompt === null || version === null
  const findCall = await readCalls(store, access, evaluations.filter(isIncomplete))

  return async (evaluation: ReceivedEvaluation): Promise<{ prompt: Prompt; link: CallLink | null } | Rejection> => {
    const { prompt: name, traceId, responseId, fallback } = evaluation
    const call = isIncomplete(evaluation) ? findCall(evaluation) : null
    if (name === null && call === 'ambiguous') return { reason: 'ambiguous_prompt', detail: evaluation.name }
    if (name === null && call !== null && call !== 'ambiguous') return call
    const reference = name ?? fallback
    if (reference === null) {
      const hasId = traceId !== '' || responseId !== null
      return { reason: hasId ? 'unknown_span' : 'unknown_prompt', detail: evaluation.name }
    }
    const prompt = await lookUp(reference)
    if (!isPrompt(prompt)) return prompt
    const isSame = call !== null && call !== 'ambiguous' && call.prompt.id === prompt.id
    return { prompt, link: isSame ? call.link : null }
  }
}

async function recordVotes(
  { store, access, planLimits, now }: TelemetryContext,
  votes: readonly Attributed[],
  outcomes: OutcomeCounts,
): Promise<void> {
  const results = await Promise.allSettled(
    votes.map((vote) => recordSignal(store.signals, access, planLimits, toSignal(vote, now), now)),
  )
  for (const result of results) {
    if (result.status === 'fulfilled')
      outcomes.add(result.value.allowance === null && result.value.isNew ? 'repeated' : 'recorded')
    else if (result.reason instanceof LimitError) outcomes.add('over_limit')
    // The same event, which another prompt was found for before.
    else if (result.reason instanceof InvalidFieldError) outcomes.add('repeated')
    else throw result.reason
  }
}

function toSignal({ evaluation, prompt, link, at }: Attributed, now: Instant): RecordSignal {
  const { eventId, name, value, score, label, explanation, traceId, spanId, responseId } = evaluation
  const model = evaluation.model ?? link?.model ?? null
  const metadata = {
    'gen_ai.evaluation.name': name,
    ...(label !== null && { 'gen_ai.evaluation.score.label': label }),
    ...(score !== null && { 'gen_ai.evaluation.score.value': score }),
    ...(model !== null && { 'gen_ai.response.model': model }),
  }
  const ofSpan = spanId === '' ? traceId : `${traceId}:${spanId}`
  return {
    prompt,
    value,
    metadata: JSON.stringify(metadata),
    details: {
      version: evaluation.version ?? link?.version ?? null,
      subject: responseId ?? (ofSpan || null),
      voter: null,
      comment: explanation,
      occurredAt: at < now ? at : null,
      traceId: traceId || null,
    },
    body: eventId,
    idempotencyKey: `otel-${eventId}`,
  }
}

async function recordScores(
  { store, access, planLimits, now }: TelemetryContext,
  scores: readonly Attributed[],
  outcomes: OutcomeCounts,
): Promise<void> {
  if (scores.length === 0) return
  const { recorded, overLimit } = await store.telemetry.recordScores(
    access.organisationId,
    scores.map(({ evaluation: { eventId, name, value, version }, prompt, link, at }) => {
      return { eventId, promptId: prompt.id, name, version: version ?? link?.version ?? null, value, at }
    }),
    planLimits[access.plan],
    now,
  )
  for (const { evaluation } of scores) {
    const { eventId } = evaluation
    if (overLimit.has(eventId)) outcomes.add('over_limit')
    // The same event may occur twice in one request.
    else outcomes.add(recorded.delete(eventId) ? 'recorded' : 'repeated')
  }
}

/** SDKs export events before the spans that they belong to: by default one second after them, and spans after five. */
async function wait(
  context: TelemetryContext,
  evaluations: readonly ReceivedEvaluation[],
  outcomes: OutcomeCounts,
): Promise<void> {
  const { store, access, now } = context
  const { organisationId } = access
  const isAdded = await store.telemetry.addWaiting(
    organisationId,
    evaluations.map((evaluation) => {
      const { eventId, traceId, responseId } = evaluation
      return { eventId, traceId, responseId, document: JSON.stringify({ ...evaluation, sender: access.prompts }) }
    }),
    now,
  )
  for (const { name } of evaluations) outcomes.add(isAdded ? 'waiting' : 'unknown_span', isAdded ? '' : name)
  // A span that arrived meanwhile did not find them.
  if (isAdded) await recordWaiting(context, evaluations, outcomes)
}

/** Records what has waited for these traces and responses. */
export async function recordWaiting(
  context: TelemetryContext,
  ids: readonly Pick<CallIds, 'traceId' | 'responseId'>[],
  outcomes: OutcomeCounts,
): Promise<void> {
  const { telemetry } = context.store
  const { organisationId } = context.access
  const traceIds = [...new Set(ids.map(({ traceId }) => traceId))].filter((id) => id !== '')
  const responseIds = [...new Set(ids.map(({ responseId }) => responseId))].filter((id) => id !== null)
  const documents = await telemetry.waiting(organisationId, traceIds, responseIds)
  if (documents.length === 0) return
  const evaluations = documents.map((document) => JSON.parse(document) as WaitingEvaluation)
  const findCall = await readCalls(context.store, context.access, evaluations)
  const found = evaluations.filter((evaluation) => {
    const call = findCall(evaluation)
    // The key that sent it may be limited to other prompts than the key that sent the span.
    return call === 'ambiguous' || (call !== null && matchesPromptGlob(evaluation.sender ?? null, call.prompt))
  })
  if (found.length === 0) return
  await recordEvaluations(context, found, outcomes, { mayWait: false })
  await telemetry.removeWaiting(
    organisationId,
    found.map(({ eventId }) => eventId),
  )
}
