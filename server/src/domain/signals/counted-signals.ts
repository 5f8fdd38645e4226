import { type PageRequest, pageOffset } from '../page.ts'
import type { Prompt } from '../prompt.ts'
import { countWhile } from '../sorted.ts'
import type { Instant } from '../time.ts'
import type { ContentFilter } from './content-filter.ts'
import type { Span } from './interval.ts'
import type { SignalFilter, SignalPage, SignalStore, SignalValue, StoredSignal, VoteWindow } from './signal.ts'
import type { Tally } from './tally.ts'

/** A time without gaps in which signals count, and how many. */
export interface CountedSpan extends Span, Tally {}

/** The retained signals that count for one side of a change. */
export interface CountedSignals {
  window: VoteWindow
  /** The hours with such signals, newest first. */
  hours: readonly CountedSpan[]
  /** How many signals count, including those that retention has removed since. */
  counted: number
}

/** Reads one page. Only signals of the hours that the page covers are examined, whatever the number of all. */
export async function pageOfCounted(
  store: Pick<SignalStore, 'windowSignals'>,
  prompt: Prompt,
  { window, hours }: CountedSignals,
  value: SignalValue | null,
  request: PageRequest,
): Promise<SignalPage> {
  const countIn = (hour: CountedSpan) => (value === null ? hour.positive + hour.negative : hour[value])
  const counting = hours.filter((hour) => countIn(hour) > 0)
  const totalCount = counting.reduce((sum, hour) => sum + countIn(hour), 0)
  let skip = pageOffset(request)
  let first = 0
  while (first < counting.length && skip >= countIn(counting[first] as CountedSpan)) {
    skip -= countIn(counting[first] as CountedSpan)
    first++
  }
  let last = first
  for (let count = -skip; last < counting.length && count < request.limit; last++) {
    count += countIn(counting[last] as CountedSpan)
  }
  const signals: StoredSignal[] = []
  for (const span of joined(counting.slice(first, last))) {
    const limit = request.limit - signals.length
    signals.push(...(await store.windowSignals(prompt, window, span, { value, skip, limit })))
    skip = 0
  }
  return { signals, totalCount }
}

// Reading across a gap of a day examines fewer signals than starting again after each hour.
const maxGapMs = 24 * 3_600_000

/** The times that a search has to examine, newest first. */
export function searchedSpans({ hours }: CountedSignals, { since, until }: SignalFilter): Span[] {
  return joined(hours, maxGapMs)
    .map((span) => ({ from: Math.max(span.from, since ?? 0), until: Math.min(span.until, until ?? span.until) }))
    .filter(({ from, until }) => from < until)
}

/** A filter that only signals of the window pass. */
export function contentOfCounted({ window }: CountedSignals, content: ContentFilter | null): ContentFilter {
  const counts = countsIn(window)
  return {
    needsComment: content?.needsComment ?? false,
    metadataPrefilter: content?.metadataPrefilter ?? null,
    matches: (signal) => counts(signal) && (content === null || content.matches(signal)),
  }
}

/** Whether a signal is part of the window. */
export function countsIn({ versions, spans, unversionedOnly, until }: VoteWindow) {
  const named = new Set(versions)
  const inOrder = spans.toSorted((a, b) => a.from - b.from)
  return ({ version, occurredAt }: Pick<StoredSignal, 'version' | 'occurredAt'>): boolean => {
    if (occurredAt >= until) return false
    if (version !== null && unversionedOnly) return named.has(version)
    return isInside(inOrder, occurredAt)
  }
}

/** `spans` are in order and do not overlap. */
function isInside(spans: readonly Span[], at: Instant): boolean {
  const last = spans[countWhile(spans, ({ from }) => from <= at) - 1]
  return last !== undefined && at < last.until
}

/** Joins spans, newest first, that follow each other. */
function joined(spans: readonly Span[], maxGap = 0): Span[] {
  const result: Span[] = []
  for (const { from, until } of spans) {
    const later = result.at(-1)
    if (later !== undefined && later.from - until <= maxGap) later.from = from
    else result.push({ from, until })
  }
  return result
}
