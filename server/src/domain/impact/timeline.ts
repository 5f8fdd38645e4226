import type { EntryDetails } from '../history/entry.ts'
import type { HistoryStore, TimelineFilter } from '../history/history.ts'
import type { PageRequest } from '../page.ts'
import type { Prompt } from '../prompt.ts'
import type { Span } from '../signals/interval.ts'
import type { PromptSpan, SignalStore } from '../signals/signal.ts'
import { emptyTally, type Tally } from '../signals/tally.ts'
import type { Instant } from '../time.ts'
import { type Impact, measureImpact, spanOf } from './impact.ts'

/** A history entry with its impact. `impact` is null if the change did not go live. */
export interface TimelineEntry {
  entry: EntryDetails
  impact: Impact | null
}

/** The history with everything known about each change. */
export async function timelineOf(
  { history, signals }: { history: Pick<HistoryStore, 'timeline'>; signals: Pick<SignalStore, 'tallies'> },
  prompt: Prompt,
  filter: TimelineFilter,
  request: PageRequest,
  now: Instant,
): Promise<{ entries: TimelineEntry[]; totalCount: number }> {
  const { entries, totalCount } = await history.timeline(prompt, filter, request, now)
  const spans: PromptSpan[] = []
  const addSpan = (span: Span) => spans.push({ promptId: prompt.id, ...span }) - 1
  const spanIndexes = entries.map(({ live }) => {
    if (live === null) return null
    return {
      after: addSpan(spanOf(live, now)),
      before: live.earlier === null ? null : addSpan(live.earlier),
    }
  })
  const tallies = await signals.tallies(prompt.organisationId, spans)
  const tallyAt = (index: number | null | undefined): Tally => tallies[index ?? -1] ?? emptyTally
  return {
    entries: entries.map(({ entry, live }, i) => ({
      entry,
      impact:
        live && measureImpact({ entry, ...live }, tallyAt(spanIndexes[i]?.before), tallyAt(spanIndexes[i]?.after)),
    })),
    totalCount,
  }
}
