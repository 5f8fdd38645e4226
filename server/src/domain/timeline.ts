import type { Action, EntryDetails } from './history.ts'
import { type Impact, impact, spanOf } from './impact.ts'
import type { Span } from './interval.ts'
import type { PageRequest } from './page.ts'
import type { Prompt } from './prompt.ts'
import type { PromptSpan, SignalStore, Tally } from './signal.ts'
import type { Instant } from './time.ts'

/** Which entries of a history: all where a part is null. */
export interface TimelineFilter {
  actions: Action[] | null
  since: Instant | null
  until: Instant | null
}

/** When a change was live, and when the one before it was. */
export interface LiveSpans {
  until: Instant | null
  earlier: Span | null
}

export interface TimelineStore {
  /** Newest first, with `live` for those that went live. */
  timeline(
    prompt: Prompt,
    filter: TimelineFilter,
    request: PageRequest,
  ): Promise<{ entries: { entry: EntryDetails; live: LiveSpans | null }[]; totalCount: number }>
}

/** An entry with what it did; null where it did not go live. */
export interface TimelineEntry {
  entry: EntryDetails
  impact: Impact | null
}

/** The history with all that is known of each change. */
export async function timelineOf(
  { history, signals }: { history: TimelineStore; signals: Pick<SignalStore, 'tallies'> },
  prompt: Prompt,
  filter: TimelineFilter,
  request: PageRequest,
  now: Instant,
): Promise<{ entries: TimelineEntry[]; totalCount: number }> {
  const { entries, totalCount } = await history.timeline(prompt, filter, request)
  const spans: PromptSpan[] = []
  const place = (span: Span) => spans.push({ promptId: prompt.id, ...span }) - 1
  const places = entries.map(({ entry, live }) => {
    if (live === null) return null
    return {
      after: place(spanOf({ entry, until: live.until }, now)),
      before: live.earlier === null ? null : place(live.earlier),
    }
  })
  const tallies = await signals.tallies(prompt.organisationId, spans)
  const tallyAt = (at: number | null | undefined): Tally => tallies[at ?? -1] ?? { positive: 0, negative: 0 }
  return {
    entries: entries.map(({ entry, live }, i) => ({
      entry,
      impact: live && impact({ entry, until: live.until }, tallyAt(places[i]?.before), tallyAt(places[i]?.after)),
    })),
    totalCount,
  }
}
