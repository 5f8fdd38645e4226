import { maxLabelLength } from '../signals/version.ts'
import { isLongerThan } from '../text.ts'
import type { Attributes } from './record.ts'

/** The event whose records become signals. */
export const evaluationEvent = 'gen_ai.evaluation.result'

/** Where instrumentations that know no event names put them. */
export const eventName = 'event.name'

/** Names the prompt of everything that a process sends, on its resource. */
const promptOfResource = 'promptledger.prompt'

/** The names of each fact, the first one wins: those of OpenTelemetry, Langfuse and OpenInference. */
const names = {
  prompt: [
    promptOfResource,
    'gen_ai.prompt.name',
    'langfuse.observation.prompt.name',
    'llm.prompt_template.name',
    'prompt.id',
  ],
  version: ['gen_ai.prompt.version', 'langfuse.observation.prompt.version', 'llm.prompt_template.version'],
  model: ['gen_ai.response.model', 'gen_ai.request.model', 'langfuse.observation.model.name', 'llm.model_name'],
  response: ['gen_ai.response.id'],
  evaluation: ['gen_ai.evaluation.name'],
  label: ['gen_ai.evaluation.score.label'],
  score: ['gen_ai.evaluation.score.value'],
  explanation: ['gen_ai.evaluation.explanation'],
  source: ['promptledger.source'],
} as const

export type Fact = keyof typeof names

/** The attributes that are read. All others are skipped. */
export const knownAttributes: ReadonlySet<string> = new Set([...Object.values(names).flat(), eventName])

/** Attributes of a span that make it worth reading. */
export const promptAttributes: readonly string[] = names.prompt

export function factIn(attributes: Attributes, fact: Fact): string | number | boolean | undefined {
  for (const name of names[fact]) {
    const value = attributes.get(name)
    if (value !== undefined && value !== '') return value
  }
}

const control = /\p{Cc}/u

/** A fact that is stored as text; null if it is missing, or no text that can be stored. */
export function textIn(attributes: Attributes, fact: Fact, maxLength = maxLabelLength): string | null {
  const value = factIn(attributes, fact)
  if (value === undefined || typeof value === 'boolean') return null
  const text = String(value)
  // The length first: what is read again for each event of a span may be as long as a request.
  return isLongerThan(text, maxLength) || control.test(text) || !text.isWellFormed() ? null : text
}

// Paths are longer than names.
const maxPromptLength = 4_096

/** The prompt that a span or an event names: an ID, a name or a path. */
export function promptIn(attributes: Attributes): string | null {
  return textIn(attributes, 'prompt', maxPromptLength)
}

/** The prompt that the whole process is about. Read for each record, so it must not be as long as a whole request. */
export function promptOf(resource: Attributes): string | null {
  const value = resource.get(promptOfResource)
  return typeof value === 'string' && value !== '' && value.length <= maxPromptLength ? value : null
}
