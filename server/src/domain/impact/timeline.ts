import type { EntryDetails } from '../history/entry.ts'
import type { HistoryStore, LiveSpans, TimelineFilter } from '../history/history.ts'
import type { PageRequest } from '../page.ts'
import type { Prompt } from '../prompt.ts'
import type { Span } from '../signals/interval.ts'
import type { PromptSpan, VersionTally } from '../signals/signal.ts'
import { emptyTally, type Tally } from '../signals/tally.ts'
import type { Instant } from '../time.ts'
import { type Attribution, type AttributionStores, attributionOf } from './attribution.ts'
import { attributedImpacts, type Impact, measureImpact, mergedLive, spanOf } from './impact.ts'

/** A history entry with its impact. `impact` is null if the change did not go live. */
export interface TimelineEntry {
  entry: EntryDetails
  impact: Impact | null
}

export interface Timeline {
  entries: TimelineEntry[]
  totalCount: number
  /** Signals that name a version which is none of the prompt's changes. They count for no change. */
  unknownVersions: VersionTally[]
}

export interface TimelineStores extends AttributionStores {
  history: Pick<HistoryStore, 'landedChanges' | 'timeline'>
}

/** The history with everything known about each change. */
export async function timelineOf(
  stores: TimelineStores,
  prompt: Prompt,
  filter: TimelineFilter,
  request: PageRequest,
  now: Instant,
): Promise<Timeline> {
  const [attribution, { entries, totalCount }] = await Promise.all([
    attributionOf(stores, prompt, now),
    stores.history.timeline(prompt, filter, request, now),
  ])
  return {
    entries:
      attribution === null
        ? await withMergeImpacts(stores, prompt, entries, now)
        : await withAttributedImpacts(stores, prompt, attribution, entries, now),
    totalCount,
    unknownVersions: attribution?.unknown ?? [],
  }
}

type MergedEntry = { entry: EntryDetails; live: LiveSpans | null }

async function withAttributedImpacts(
  stores: TimelineStores,
  prompt: Prompt,
  attribution: Attribution,
  entries: MergedEntry[],
  now: Instant,
): Promise<TimelineEntry[]> {
  const { lives } = attribution.live
  const lived = entries.map(({ entry }) => lives.get(entry.id)).filter((life) => life !== undefined)
  const impactFor = await attributedImpacts(stores, prompt, attribution, lived, now)
  return entries.map(({ entry }) => ({ entry, impact: impactFor(entry) }))
}

async function withMergeImpacts(
  { signals }: Pick<TimelineStores, 'signals'>,
  prompt: Prompt,
  entries: MergedEntry[],
  now: Instant,
): Promise<TimelineEntry[]> {
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
  return entries.map(({ entry, live }, i) => ({
    entry,
    impact:
      live &&
      measureImpact(mergedLive({ entry, ...live }), tallyAt(spanIndexes[i]?.before), tallyAt(spanIndexes[i]?.after)),
  }))
}
