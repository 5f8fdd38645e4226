import type { HistoryEntry } from '../history/entry.ts'
import type { HistoryStore, LiveChange } from '../history/history.ts'
import { type PageRequest, pageOffset } from '../page.ts'
import type { Prompt } from '../prompt.ts'
import type { Span } from '../signals/interval.ts'
import type { VersionTally } from '../signals/signal.ts'
import { emptyTally, type Tally } from '../signals/tally.ts'
import type { Instant } from '../time.ts'
import {
  type Attribution,
  type AttributionStores,
  attributionOf,
  type Credited,
  creditedTallies,
} from './attribution.ts'
import { type Life, type LiveSource, type LiveWindow, liveFrom, liveUntil, newestLives } from './live-window.ts'
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
  /** How it is known when the change went live. */
  liveSource: LiveSource
  /** Every time in which it was live, in order: more than one after a rollback, or as a canary. */
  windows: LiveWindow[]
  before: RatedTally
  after: RatedTally
  /** Of the signals in `after`, those without a version that came while another version was live too. */
  unattributed: number
  /** Null if either side has no signals. */
  difference: number | null
  interval: [low: number, high: number] | null
  verdict: Verdict
}

export interface ImpactStores extends AttributionStores {
  history: Pick<HistoryStore, 'landedChanges' | 'liveChanges' | 'entries'>
}

export interface Impacts {
  impacts: Impact[]
  totalCount: number
  /** Signals that name a version which is none of the prompt's changes. They count for no change. */
  unknownVersions: VersionTally[]
}

/** The effect of each change on the page, from the signals that count for it and those of the change before it. */
export async function impactOf(
  stores: ImpactStores,
  prompt: Prompt,
  request: PageRequest,
  now: Instant,
): Promise<Impacts> {
  const attribution = await attributionOf(stores, prompt, now)
  if (attribution === null) return impactOfMerges(stores, prompt, request, now)
  const all = newestLives(attribution.live)
  const offset = pageOffset(request)
  const page = all.slice(offset, offset + request.limit)
  const [entries, impactFor] = await Promise.all([
    stores.history.entries(
      prompt.organisationId,
      page.map(({ change }) => change.id),
    ),
    attributedImpacts(stores, prompt, attribution, page, now),
  ])
  const impacts = entries.map((entry) => impactFor(entry) as Impact)
  return { impacts, totalCount: all.length, unknownVersions: attribution.unknown }
}

/** Without deployments and versions, each signal counts for the change that was merged last when it came. */
async function impactOfMerges(
  { history, signals }: Pick<ImpactStores, 'history' | 'signals'>,
  prompt: Prompt,
  request: PageRequest,
  now: Instant,
): Promise<Impacts> {
  const { changes, earlier, totalCount } = await history.liveChanges(prompt, request, now)
  const all = earlier === null ? changes : [...changes, earlier]
  const tallies = await signals.tallies(
    prompt.organisationId,
    all.map((change) => ({ promptId: prompt.id, ...spanOf(change, now) })),
  )
  const impacts = changes.map((change, i) =>
    measureImpact(mergedLive(change), tallies[i + 1] ?? emptyTally, tallies[i] ?? emptyTally),
  )
  return { impacts, totalCount, unknownVersions: [] }
}

/** Reads the signals of these changes, and returns a function for the impact of each; null for other entries. */
export async function attributedImpacts(
  stores: Pick<AttributionStores, 'signals'>,
  { organisationId, id: promptId }: Prompt,
  { live, hasVersions, versionsOf }: Attribution,
  lives: Life[],
  now: Instant,
): Promise<(entry: HistoryEntry) => Impact | null> {
  const changes = new Map(
    lives
      .flatMap(({ change, earlier }) => [change, ...(earlier === null ? [] : [earlier])])
      .map((each) => [each.id, each]),
  )
  const wanted = [...changes.values()]
  const tallies = await creditedTallies(
    stores,
    organisationId,
    wanted.map((change) => ({
      promptId,
      life: live.lives.get(change.id),
      versions: hasVersions ? versionsOf(change) : [],
    })),
    now,
  )
  const credited = new Map(wanted.map(({ id }, i) => [id, tallies[i] as Credited]))
  const byId = new Map(lives.map((life) => [life.change.id, life]))
  return (entry) => {
    const life = byId.get(entry.id)
    return life === undefined ? null : impactOfLife(entry, life, (id) => credited.get(id))
  }
}

export function impactOfLife(
  entry: HistoryEntry,
  life: Life,
  creditedTo: (changeId: number) => Credited | undefined,
): Impact {
  const before = life.earlier === null ? undefined : creditedTo(life.earlier.id)
  const after = creditedTo(life.change.id)
  const { windows } = life
  const liveSource = (windows[0] as LiveWindow).source
  return {
    ...measureImpact(
      { entry, liveFrom: liveFrom(life), liveUntil: liveUntil(life), liveSource, windows },
      before?.tally ?? emptyTally,
      after?.tally ?? emptyTally,
    ),
    unattributed: after?.unattributed ?? 0,
  }
}

/** The span in which the change was live. It includes signals of the current millisecond. */
export function spanOf({ from, until }: Omit<LiveChange, 'entry'>, now: Instant): Span {
  return { from, until: Math.max(until ?? now + 1, from) }
}

export type LiveFacts = Pick<Impact, 'entry' | 'liveFrom' | 'liveUntil' | 'liveSource' | 'windows'>

/** A change that its merge made live. */
export function mergedLive({ entry, from, until }: LiveChange): LiveFacts {
  const windows: LiveWindow[] = [{ from, until, share: 1, source: 'merge', environment: null }]
  return { entry, liveFrom: from, liveUntil: until, liveSource: 'merge', windows }
}

export function measureImpact(live: LiveFacts, before: Tally, after: Tally): Impact {
  const comparison = differenceOf(before, after)
  return {
    ...live,
    before: rated(before),
    after: rated(after),
    unattributed: 0,
    difference: comparison?.difference ?? null,
    interval: comparison?.interval ?? null,
    verdict: verdictOf(before, after),
  }
}

function rated(tally: Tally): RatedTally {
  return { ...tally, rate: rateOf(tally) }
}
