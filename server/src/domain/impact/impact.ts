import type { HistoryEntry } from '../history/entry.ts'
import type { HistoryStore, LiveChange } from '../history/history.ts'
import type { PageRequest } from '../page.ts'
import type { Prompt } from '../prompt.ts'
import type { Span } from '../signals/interval.ts'
import type { SignalStore } from '../signals/signal.ts'
import type { Tally } from '../signals/tally.ts'
import type { Instant } from '../time.ts'
import { differenceOf, rateOf, type Verdict, verdictOf } from './verdict.ts'

export interface RatedTally extends Tally {
  /** The share of positive ones; null where there are none. */
  rate: number | null
}

/** What users thought before and after a change. */
export interface Impact {
  entry: HistoryEntry
  liveFrom: Instant
  liveUntil: Instant | null
  before: RatedTally
  after: RatedTally
  /** Null where there is nothing to compare. */
  difference: number | null
  interval: [low: number, high: number] | null
  verdict: Verdict
}

/** The effect of each change on the page: the signals while it was live beside those while the one before was. */
export async function impactOf(
  { history, signals }: { history: Pick<HistoryStore, 'liveChanges'>; signals: Pick<SignalStore, 'tallies'> },
  prompt: Prompt,
  request: PageRequest,
  now: Instant,
): Promise<{ impacts: Impact[]; totalCount: number }> {
  const { changes, earlier, totalCount } = await history.liveChanges(prompt, request)
  const all = earlier === null ? changes : [...changes, earlier]
  const tallies = await signals.tallies(
    prompt.organisationId,
    all.map((change) => ({ promptId: prompt.id, ...spanOf(change, now) })),
  )
  const impacts = changes.map((change, i) => impact(change, tallies[i + 1] ?? nothing, tallies[i] ?? nothing))
  return { impacts, totalCount }
}

const nothing: Tally = { positive: 0, negative: 0 }

// Signals of this very millisecond count too.
export function spanOf({ entry, until }: LiveChange, now: Instant): Span {
  return { from: entry.createdAt, until: Math.max(until ?? now + 1, entry.createdAt) }
}

export function impact({ entry, until }: LiveChange, before: Tally, after: Tally): Impact {
  const found = differenceOf(before, after)
  return {
    entry,
    liveFrom: entry.createdAt,
    liveUntil: until,
    before: rated(before),
    after: rated(after),
    difference: found?.difference ?? null,
    interval: found?.interval ?? null,
    verdict: verdictOf(before, after),
  }
}

function rated(tally: Tally): RatedTally {
  return { ...tally, rate: rateOf(tally) }
}
