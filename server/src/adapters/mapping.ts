import { maxCommentLength } from '../domain/signals/details.ts'
import type { SignalValue } from '../domain/signals/signal.ts'
import { valueAt } from '../domain/sources/json-path.ts'
import type { SourceField, SourceSettings } from '../domain/sources/source.ts'
import { firstCharacters, sanitisedLine } from '../domain/text.ts'
import { type Instant, isoTime, yearTenThousand } from '../domain/time.ts'
import type { Adapter, Place } from './adapter.ts'

/** What an event says. Texts are as sent, and not validated yet. */
export interface MappedEvent {
  kind: 'vote'
  prompt: string
  /** Null withdraws the vote on the subject. */
  value: SignalValue | null
  subject: string | null
  voter: string | null
  version: string | null
  comment: string | null
  /** ISO 8601. */
  time: string | null
  id: string | null
}

/** An event that is no vote, such as another kind of message or the middle of a scale. */
export interface IgnoredEvent {
  kind: 'ignored'
}

export interface RejectedEvent {
  kind: 'rejected'
  reason: string
}

export type Outcome = MappedEvent | IgnoredEvent | RejectedEvent

const ignored: IgnoredEvent = { kind: 'ignored' }

/** The events of a request: an array, which may be the payload or a part of it, or the payload itself. */
export function eventsIn({ fields }: Adapter, settings: SourceSettings, payload: unknown): unknown[] {
  const place = settings.fields.events ?? fields.events
  if (Array.isArray(payload) || typeof place !== 'string') return [payload].flat()
  const events = valueAt(payload, place)
  return events === undefined ? [] : [events].flat()
}

export function mapEvent(adapter: Adapter, settings: SourceSettings, event: unknown): Outcome {
  const { only, same, withdraws, isMixed = false } = adapter
  if (only !== undefined && !only.in.includes(textAt(event, only.at) ?? '')) return ignored
  if (same !== undefined && textAt(event, same[0]) !== textAt(event, same[1])) return ignored
  const field = (name: SourceField) => textAt(event, settings.fields[name] ?? adapter.fields[name])
  const sent = field('value')
  if (sent === null) return isMixed ? ignored : rejected('it has no value')
  const value = voteOf(adapter, settings, sent)
  if (value === 'neutral') return ignored
  if (value === null) return isMixed ? ignored : rejected(`the value ${quoted(sent)} is not known`)
  const prompt = field('prompt') ?? settings.prompt
  if (prompt === null) return rejected('it names no prompt, and the source has none')
  const [subject, id] = [field('subject'), field('id')]
  if (subject === null && id === null) return rejected('it has no ID and no subject, so it could count twice')
  const time = field('time')
  const at = time === null ? null : timeOf(time)
  if (time !== null && at === null) return rejected(`the time ${quoted(time)} is not readable`)
  const comment = field('comment')
  return {
    kind: 'vote',
    prompt,
    value: withdraws !== undefined && textAt(event, withdraws.at) === withdraws.is ? null : value,
    subject,
    voter: field('voter'),
    version: field('version'),
    comment: comment === null ? null : firstCharacters(comment, maxCommentLength).replaceAll('\0', '').toWellFormed(),
    time: at === null ? null : isoTime(at),
    id,
  }
}

/** The text, number or boolean at a place. Null for everything else, and for empty text. */
export function textAt(event: unknown, place: Place | undefined): string | null {
  if (place === undefined) return null
  if (typeof place === 'string') return scalarText(valueAt(event, place))
  if ('any' in place) {
    for (const each of place.any) {
      const text = textAt(event, each)
      if (text !== null) return text
    }
    return null
  }
  const texts = place.all.map((each) => textAt(event, each))
  return texts.every((text) => text !== null) ? texts.join(':') : null
}

function scalarText(value: unknown): string | null {
  if (typeof value === 'string') return value.trim() === '' ? null : value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : null
}

function voteOf(adapter: Adapter, settings: SourceSettings, sent: string): SignalValue | 'neutral' | null {
  const text = (adapter.suffix === undefined ? sent : sent.replace(adapter.suffix, '')).trim().toLowerCase()
  const isIn = (values: string[]) => values.some((value) => value.trim().toLowerCase() === text)
  if (isIn(settings.positive)) return 'positive'
  if (isIn(settings.negative)) return 'negative'
  const midpoint = settings.midpoint ?? adapter.midpoint ?? null
  const number = Number(text)
  if (midpoint !== null && Number.isFinite(number)) {
    if (number === midpoint) return 'neutral'
    return number > midpoint ? 'positive' : 'negative'
  }
  return Object.hasOwn(adapter.values, text) ? (adapter.values[text] as SignalValue) : null
}

const isoDate = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}/
const hasZone = /(?:Z|[+-]\d{2}:?\d{2})$/i
// The year 5138 in seconds, and 1973 in milliseconds.
const firstMilliseconds = 1e11

/** Reads ISO 8601, without a time zone as UTC, and seconds or milliseconds since 1970. */
function timeOf(text: string): Instant | null {
  const number = Number(text)
  const at = Number.isFinite(number)
    ? Math.floor(number < firstMilliseconds ? number * 1_000 : number)
    : isoDate.test(text)
      ? Date.parse(hasZone.test(text) ? text : `${text}Z`)
      : Number.NaN
  return Number.isSafeInteger(at) && at > 0 && at < yearTenThousand ? at : null
}

function quoted(text: string): string {
  return `"${sanitisedLine(text, 40, '')}"`
}

function rejected(reason: string): RejectedEvent {
  return { kind: 'rejected', reason }
}
