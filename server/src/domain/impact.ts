import type { HistoryEntry } from './history.ts'
import type { Span } from './interval.ts'
import type { PageRequest } from './page.ts'
import type { Prompt } from './prompt.ts'
import type { SignalStore, Tally } from './signal.ts'
import type { Instant } from './time.ts'
import { differenceOf, rateOf, type Verdict, verdictOf } from './verdict.ts'

/** A change that went live, and until when it was: null where it still is. */
export interface LiveChange {
  entry: HistoryEntry
  until: Instant | null
}

export interface LiveChanges {
  /** Newest first. */
  changes: LiveChange[]
  /** The change that was live before the oldest of them, if there is one. */
  earlier: LiveChange | null
  totalCount: number
}

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

export interface ChangeStore {
  /** The changes that went live: what was committed to the default branch, by itself or by a pull request. */
  liveChanges(prompt: Prompt, request: PageRequest): Promise<LiveChanges>
  /** For each prompt the newest change that went live and the one before it, as far as there are any. */
  lastChanges(prompts: Prompt[]): Promise<LiveChange[][]>
}

/** The effect of each change on the page: the signals while it was live beside those while the one before was. */
export async function impactOf(
  { history, signals }: { history: Pick<ChangeStore, 'liveChanges'>; signals: Pick<SignalStore, 'tallies'> },
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
