import type { Prompt } from '../domain/prompt.ts'
import { AmbiguousPromptError, findPrompt } from '../domain/prompt-reference.ts'
import { type HashVoter, validLabel } from '../domain/signals/details.ts'
import type { NewSignal } from '../domain/signals/signal.ts'
import { labelledVersion, maxLabelLength } from '../domain/signals/version.ts'
import type { Store } from '../domain/store.ts'
import { isLongerThan } from '../domain/text.ts'
import { type Instant, parseTime } from '../domain/time.ts'
import { adapters } from './index.ts'
import { eventsIn, type MappedEvent, mapEvent } from './mapping.ts'
import { accessOf, type SourceOfPlan } from './receive.ts'

/** The signals of an export, by prompt, and why the others are none. */
export interface ReadFeedback {
  signals: Map<Prompt, NewSignal[]>
  ignored: number
  /** `event` is the place in the export, from 0. */
  rejected: { event: number; reason: string }[]
}

/**
 * Reads an export of any age as its source maps it. A vote is recognised by its subject, or else by its ID, so that importing an export
 * again changes nothing.
 */
export async function readFeedback(
  { prompts }: Pick<Store, 'prompts'>,
  source: SourceOfPlan,
  payload: unknown,
  hashVoter: HashVoter,
  now: Instant,
): Promise<ReadFeedback> {
  const adapter = adapters[source.adapter]
  const read: ReadFeedback = { signals: new Map(), ignored: 0, rejected: [] }
  const known = new Map<string, Prompt | string>()
  for (const [event, each] of eventsIn(adapter, source.settings, payload).entries()) {
    const mapped = mapEvent(adapter, source.settings, each)
    if (mapped.kind === 'ignored') read.ignored++
    if (mapped.kind === 'rejected') read.rejected.push({ event, reason: mapped.reason })
    if (mapped.kind !== 'vote') continue
    const prompt = known.get(mapped.prompt) ?? (await findNamed(prompts, source, mapped.prompt))
    known.set(mapped.prompt, prompt)
    const problem = typeof prompt === 'string' ? prompt : problemWith(mapped, now)
    if (typeof prompt === 'string' || problem !== null) {
      read.rejected.push({ event, reason: problem ?? '' })
      continue
    }
    const signals = read.signals.get(prompt) ?? []
    read.signals.set(prompt, signals)
    signals.push(await toSignal(source, prompt, mapped, hashVoter, now))
  }
  return read
}

/** The prompt, or why it cannot be found. */
async function findNamed(prompts: Store['prompts'], source: SourceOfPlan, name: string): Promise<Prompt | string> {
  try {
    return (await findPrompt(prompts, accessOf(source), name)) ?? `no prompt has the name ${JSON.stringify(name)}`
  } catch (error) {
    if (error instanceof AmbiguousPromptError) return error.message
    throw error
  }
}

function problemWith({ value, subject, id, voter, time }: MappedEvent, now: Instant): string | null {
  if (value === null) return 'it withdraws a vote'
  if (time !== null && parseTime('time', time) > now) return 'its time is in the future'
  const long = Object.entries({ subject: subject ?? id, voter }).find(
    ([, text]) => text !== null && isLongerThan(text, maxLabelLength),
  )
  return long === undefined ? null : `the ${long[0]} is longer than ${maxLabelLength} characters`
}

async function toSignal(
  { publicId, organisationId }: SourceOfPlan,
  { id: promptId }: Prompt,
  { value, subject, id, voter, version, comment, time }: MappedEvent,
  hashVoter: HashVoter,
  now: Instant,
): Promise<NewSignal> {
  return {
    organisationId,
    promptId,
    value: value as NonNullable<typeof value>,
    metadata: JSON.stringify({ source: publicId }),
    createdAt: time === null ? now : parseTime('time', time),
    details: {
      version: version === null ? null : labelledVersion(version),
      subject: validLabel('subject', (subject ?? id) as string),
      voter: voter === null ? null : await hashVoter(validLabel('voter', voter)),
      comment,
      occurredAt: null,
      traceId: null,
    },
  }
}
