import type { HistoryEntry } from '../history/entry.ts'
import type { HistoryStore, LiveChange } from '../history/history.ts'
import type { PageRequest } from '../page.ts'
import type { Prompt } from '../prompt.ts'
import type { Span } from '../signals/interval.ts'
import type { SignalStore } from '../signals/signal.ts'
import { emptyTally, type Tally } from '../signals/tally.ts'
import type { Instant } from '../time.ts'
import { differenceOf, rateOf, type Verdict, verdictOf } from './verdict.ts'

export interface RatedTally extends Tally {
  /** The share of positive signals, null without signals. */
  rate: number | null
}

/** User feedback before and after a change. */
export interface Impact {
  entry: HistoryEntry
  liveFrom: Instant
  liveUntil: Instant | null
  before: RatedTally
  after: RatedTally
  /** Null if either side has no signals. */
  difference: number | null
  interval: [low: number, high: number] | null
  verdict: Verdict
}

/** The effect of each change on the page, from the signals while it was live and those of the change before it. */
export async function impactOf(
  { history, signals }: { history: Pick<HistoryStore, 'liveChanges'>; signals: Pick<SignalStore, 'tallies'> },
  prompt: Prompt,
  request: PageRequest,
  now: Instant,
): Promise<{ impacts: Impact[]; totalCount: number }> {
  const { changes, earlier, totalCount } = await history.liveChanges(prompt, request, now)
  const all = earlier === null ? changes : [...changes, earlier]
  const tallies = await signals.tallies(
    prompt.organisationId,
    all.map((change) => ({ promptId: prompt.id, ...spanOf(change, now) })),
  )
  const impacts = changes.map((change, i) =>
    measureImpact(change, tallies[i + 1] ?? emptyTally, tallies[i] ?? emptyTally),
  )
  return { impacts, totalCount }
}

/** The span in which the change was live. It includes signals of the current millisecond. */
export function spanOf({ from, until }: Omit<LiveChange, 'entry'>, now: Instant): Span {
  return { from, until: Math.max(until ?? now + 1, from) }
}

export function measureImpact({ entry, from, until }: LiveChange, before: Tally, after: Tally): Impact {
  const comparison = differenceOf(before, after)
  return {
    entry,
    liveFrom: from,
    liveUntil: until,
    before: rated(before),
    after: rated(after),
    difference: comparison?.difference ?? null,
    interval: comparison?.interval ?? null,
    verdict: verdictOf(before, after),
  }
}

function rated(tally: Tally): RatedTally {
  return { ...tally, rate: rateOf(tally) }
}
