import type { EntryDetails } from '../history/entry.ts'
import type { HistoryStore, TimelineFilter } from '../history/history.ts'
import type { PageRequest } from '../page.ts'
import type { Prompt } from '../prompt.ts'
import type { Span } from '../signals/interval.ts'
import type { PromptSpan, SignalStore } from '../signals/signal.ts'
import type { Tally } from '../signals/tally.ts'
import type { Instant } from '../time.ts'
import { type Impact, impact, spanOf } from './impact.ts'

/** An entry with what it did; null where it did not go live. */
export interface TimelineEntry {
  entry: EntryDetails
  impact: Impact | null
}

/** The history with all that is known of each change. */
export async function timelineOf(
  { history, signals }: { history: Pick<HistoryStore, 'timeline'>; signals: Pick<SignalStore, 'tallies'> },
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
