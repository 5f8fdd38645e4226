import { hash } from 'node:crypto'
import { maxCommentLength } from '../signals/details.ts'
import type { SignalValue } from '../signals/signal.ts'
import { labelledVersion, maxLabelLength, type VersionText } from '../signals/version.ts'
import { firstCharacters, sanitisedLine } from '../text.ts'
import type { Instant } from '../time.ts'
import { type Fact, factIn, promptIn, textIn } from './attributes.ts'
import { type EvaluationRule, type EvaluationSource, evaluationSources } from './evaluation-rule.ts'
import type { Attributes, EventRecord } from './record.ts'

/** An evaluation event that can be read. */
export interface Evaluation {
  /** Tells events apart: the same one, sent twice, has the same. */
  eventId: string
  name: string
  source: EvaluationSource
  value: SignalValue
  /** As sent; null if it has none. */
  score: number | null
  label: string | null
  explanation: string | null
  at: Instant | null
  /** Of the prompt; null if the event does not say it. */
  prompt: string | null
  version: VersionText | null
  responseId: string | null
  model: string | null
  traceId: string
  spanId: string
}

/** Why a record was rejected, and what it is about: a name that its sender chose. */
export interface Rejection {
  reason: RejectionReason
  detail: string
}

export const rejectionReasons = [
  'unknown_prompt',
  'ambiguous_prompt',
  'unknown_span',
  'no_value',
  'no_threshold',
  'too_old',
  'in_future',
  'over_limit',
  'too_many',
] as const

export type RejectionReason = (typeof rejectionReasons)[number]

// Others could mean either: what is "true" of an evaluation named toxicity is bad.
const positiveLabels = ['positive', 'pass', 'passed', 'correct', 'relevant', 'thumbs_up']
const negativeLabels = ['negative', 'fail', 'failed', 'incorrect', 'not_relevant', 'irrelevant', 'thumbs_down']
const valueOfLabel = new Map<string, SignalValue>([
  ...positiveLabels.map((label) => [label, 'positive'] as const),
  ...negativeLabels.map((label) => [label, 'negative'] as const),
])
// Nothing but people has thumbs.
const labelsOfPeople = ['thumbs_up', 'thumbs_down']

const unnamed = 'unnamed'

/** Reads an event by the rules of the organisation, by name. */
export function evaluationOf(event: EventRecord, rules: ReadonlyMap<string, EvaluationRule>): Evaluation | Rejection {
  const { attributes, traceId, spanId, at, nanoseconds } = event
  const name = textIn(attributes, 'evaluation') ?? unnamed
  const rule = rules.get(name)
  const label = textIn(attributes, 'label')
  const score = scoreIn(attributes)
  const plain = label?.toLowerCase().replaceAll(/[\s-]+/g, '_') ?? ''
  const value = valueOfLabel.get(plain) ?? (score === null ? null : valueOfScore(score, rule))
  if (value === null) {
    if (score === null) return { reason: 'no_value', detail: label ?? name }
    return { reason: 'no_threshold', detail: name }
  }
  const explanation = factIn(attributes, 'explanation')
  const text = (fact: Fact) => textIn(attributes, fact)
  return {
    eventId: eventIdOf([traceId, spanId, nanoseconds, name, label, score, text('response'), text('prompt')]),
    name,
    source: sourceIn(attributes) ?? rule?.source ?? (labelsOfPeople.includes(plain) ? 'people' : 'judge'),
    value,
    score,
    label,
    explanation: typeof explanation === 'string' ? commentOf(explanation) : null,
    at,
    prompt: promptIn(attributes),
    version: labelledVersion(factIn(attributes, 'version')),
    responseId: text('response'),
    model: text('model'),
    traceId,
    spanId,
  }
}

export function isRejection(read: Evaluation | Rejection): read is Rejection {
  return 'reason' in read
}

function scoreIn(attributes: Attributes): number | null {
  const score = factIn(attributes, 'score')
  return typeof score === 'number' && Number.isFinite(score) ? score : null
}

/** Without a threshold it is not known whether 1 is the best of 1 or the worst of 5. */
function valueOfScore(score: number, rule: EvaluationRule | undefined): SignalValue | null {
  if (rule === undefined || rule.threshold === null) return null
  return score >= rule.threshold ? 'positive' : 'negative'
}

function sourceIn(attributes: Attributes): EvaluationSource | null {
  const source = factIn(attributes, 'source')
  return evaluationSources.find((each) => each === source) ?? null
}

function commentOf(text: string): string | null {
  return firstCharacters(text.replaceAll('\0', ''), maxCommentLength).toWellFormed() || null
}

function eventIdOf(parts: unknown[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64url')
}

/** What a rejection is about, as it is stored and shown. */
export function shownDetail(detail: string): string {
  return sanitisedLine(detail, maxLabelLength, unnamed)
}
