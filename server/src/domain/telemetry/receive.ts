import { labelledVersion } from '../signals/version.ts'
import { createTurns } from '../time.ts'
import { factIn, promptIn, promptOf, textIn } from './attributes.ts'
import { evaluationOf, isRejection } from './evaluation.ts'
import type { EvaluationRule } from './evaluation-rule.ts'
import { createOutcomeCounts, type OutcomeCounts } from './outcome-counts.ts'
import { createPromptLookup, isPrompt } from './prompt-lookup.ts'
import type { EventRecord, SpanRecord } from './record.ts'
import {
  type ReceivedEvaluation,
  recordEvaluations,
  recordWaiting,
  type TelemetryContext,
  timeProblem,
} from './record-evaluations.ts'
import type { Call } from './telemetry.ts'

/** How many records were rejected, and why, for the sender. */
export interface Receipt {
  rejected: number
  message: string
}

// Bounds the memory of one request: exporters send some hundred records at once, a Collector some thousand.
const maxEvaluations = 5_000
const maxCalls = 20_000
// SQLite writes a transaction without a break.
const callsPerTransaction = 500

/** Records the evaluation events among log records. */
export async function receiveLogs(context: TelemetryContext, records: Iterable<EventRecord | null>): Promise<Receipt> {
  const outcomes = createOutcomeCounts('logs')
  const rules = await rulesOf(context)
  const evaluations: ReceivedEvaluation[] = []
  const takeTurns = createTurns()
  for (const record of records) {
    if (record === null) outcomes.add('ignored')
    else addEvaluation(evaluations, record, rules, outcomes)
    await takeTurns()
  }
  await recordEvaluations(context, evaluations, outcomes)
  return finish(context, outcomes)
}

/** Counts the spans that name a prompt, and remembers which traces and responses belong to it. */
export async function receiveSpans(context: TelemetryContext, spans: Iterable<SpanRecord | null>): Promise<Receipt> {
  const { store, access, now } = context
  const outcomes = createOutcomeCounts('spans')
  const ofEvents = createOutcomeCounts('logs')
  const rules = await rulesOf(context)
  const lookUp = createPromptLookup(store.prompts, access)
  const evaluations: ReceivedEvaluation[] = []
  const calls: Call[] = []
  const takeTurns = createTurns()
  for (const span of spans) {
    await takeTurns()
    if (span === null) {
      outcomes.add('ignored')
      continue
    }
    const { traceId, spanId, at, attributes, resource } = span
    const name = promptIn(attributes) ?? promptOf(resource)
    const version = labelledVersion(factIn(attributes, 'version'))
    ofEvents.add('too_many', '', span.droppedEvents)
    for (const event of span.events) {
      await takeTurns()
      addEvaluation(evaluations, event, rules, ofEvents, {
        prompt: name,
        version,
        responseId: textIn(attributes, 'response'),
      })
    }
    if (name === null || traceId === '' || spanId === '') {
      outcomes.add('ignored')
      continue
    }
    const prompt = await lookUp(name)
    const problem = isPrompt(prompt) ? timeProblem(at, context) : prompt
    if (problem !== null) outcomes.add(problem.reason, problem.detail)
    else if (calls.length >= maxCalls) outcomes.add('too_many')
    else {
      const promptId = isPrompt(prompt) ? prompt.id : 0
      const [model, responseId] = [textIn(attributes, 'model'), textIn(attributes, 'response')]
      calls.push({ traceId, spanId, promptId, version, model, responseId, at: Math.min(at, now) })
    }
  }
  for (let i = 0; i < calls.length; i += callsPerTransaction) {
    const some = calls.slice(i, i + callsPerTransaction)
    const added = await store.telemetry.recordCalls(access.organisationId, some)
    for (let j = 0; j < some.length; j++) outcomes.add(j < added.length ? 'recorded' : 'repeated')
    await takeTurns()
  }
  await recordEvaluations(context, evaluations, ofEvents)
  // Also for calls that are known: an earlier attempt may have failed before this.
  if (calls.length > 0) await recordWaiting(context, calls, ofEvents)
  await store.telemetry.countOutcomes(access.organisationId, ofEvents.all(), now)
  return finish(context, outcomes)
}

async function rulesOf({ store, access }: TelemetryContext): Promise<ReadonlyMap<string, EvaluationRule>> {
  return new Map((await store.telemetry.rules(access.organisationId)).map((rule) => [rule.name, rule]))
}

function addEvaluation(
  evaluations: ReceivedEvaluation[],
  event: EventRecord,
  rules: ReadonlyMap<string, EvaluationRule>,
  outcomes: OutcomeCounts,
  span: Pick<ReceivedEvaluation, 'prompt' | 'version' | 'responseId'> | null = null,
): void {
  const read = evaluationOf(event, rules)
  if (isRejection(read)) outcomes.add(read.reason, read.detail)
  else if (evaluations.length >= maxEvaluations) outcomes.add('too_many')
  else {
    evaluations.push({
      ...read,
      prompt: read.prompt ?? span?.prompt ?? null,
      version: read.version ?? span?.version ?? null,
      responseId: read.responseId ?? span?.responseId ?? null,
      fallback: promptOf(event.resource),
    })
  }
}

async function finish({ store, access, now }: TelemetryContext, outcomes: OutcomeCounts): Promise<Receipt> {
  await store.telemetry.countOutcomes(access.organisationId, outcomes.all(), now)
  return { rejected: outcomes.rejected(), message: outcomes.describe() }
}
