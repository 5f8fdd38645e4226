import { hourStart, type Instant } from '../../domain/time.ts'

/** A part of a started hour. */
interface StartedSpan {
  /** The index of the instant that it ends at. */
  place: number
  prompt: number
  first: Instant
  last: Instant
  /** The place of the span that it continues; -1 if it starts with the hour. */
  after: number
}

/**
 * The hours up to these instants, each from the instant before it in the same hour. No two overlap, so that each signal is read once,
 * however many instants an hour has. Instants on the hour are omitted.
 */
export function startedSpans(instants: readonly { promptId: number; at: Instant }[]): StartedSpan[] {
  const spans = instants
    .map(({ promptId, at }, place): StartedSpan => {
      return { place, prompt: promptId, first: hourStart(at), last: at, after: -1 }
    })
    .filter(({ first, last }) => first !== last)
    .sort((a, b) => a.prompt - b.prompt || a.last - b.last)
  for (let i = 1; i < spans.length; i++) {
    const [previous, span] = [spans[i - 1] as StartedSpan, spans[i] as StartedSpan]
    if (previous.prompt !== span.prompt || hourStart(previous.last) !== span.first) continue
    span.first = previous.last
    span.after = previous.place
  }
  return spans
}
