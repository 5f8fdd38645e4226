import type { HistoryEntry } from '../history/entry.ts'
import type { HistoryStore } from '../history/history.ts'
import { type PageRequest, pageOffset } from '../page.ts'
import type { Prompt } from '../prompt.ts'
import type { VersionTally } from '../signals/signal.ts'
import type { Tally } from '../signals/tally.ts'
import type { TelemetryStore } from '../telemetry/telemetry.ts'
import type { Instant } from '../time.ts'
import type { Trial } from '../trials/trial.ts'
import { type JudgedChange, type JudgeStores, judgeChanges } from './judged-changes.ts'
import { type LiveSource, type LiveWindow, liveFrom, liveUntil } from './live/live-window.ts'
import type { Moment } from './live/moment.ts'
import { type Drift, defaultDrift } from './model/drift.ts'
import { rateOf, type Verdict } from './model/verdict.ts'
import { nothingTold, type TelemetryOfChange, telemetryOf } from './reading/telemetry.ts'
import { unknownVersionsOf, type VoteStores, voteHistoryOf } from './reading/vote-history.ts'
import type { AttributedBy } from './reading/window-sums.ts'
import { type SegmentedImpact, segmentsOfChanges } from './segment-impact.ts'

export interface RatedTally extends Tally {
  /** The share of positive signals, null without signals. */
  rate: number | null
}

/** User feedback before and after a change. */
export interface Impact extends TelemetryOfChange {
  entry: HistoryEntry
  liveFrom: Instant
  liveUntil: Instant | null
  /** How it is known when the change went live. */
  liveSource: LiveSource
  /** Every time in which it was live, in order: more than one after a rollback, or as a canary. */
  windows: LiveWindow[]
  before: RatedTally
  after: RatedTally
  /** How many signals of both sides count for them by what. */
  attributedBy: AttributedBy
  /** Of the signals in `after`, those without a version that came while another version was live too. */
  unattributed: number
  /** How many independent signals those of both sides are worth. */
  effectiveSignals: number
  /** Null if either side has no signals. */
  difference: number | null
  interval: [low: number, high: number] | null
  verdict: Verdict
  explanation: string
  /** No change was live before it, so there is nothing to compare it with. */
  isFirst: boolean
  /** The change in each segment, if that was asked for and there is a change before it. */
  segments: SegmentedImpact | null
  /** The trial that it had before it was merged, if `withTrials` found one. */
  trial: Trial | null
}

export interface ImpactStores extends VoteStores, JudgeStores {
  signals: JudgeStores['signals']
  deployments: JudgeStores['deployments']
  history: Pick<HistoryStore, 'landedChanges' | 'plainEntries'>
  telemetry: JudgeStores['telemetry'] & Pick<TelemetryStore, 'exposures' | 'scores'>
}

interface Impacts {
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
  moment: Moment,
  drift: Readonly<Drift> = defaultDrift,
  by: string | null = null,
): Promise<Impacts> {
  const history = await voteHistoryOf(stores, prompt, moment)
  const end = Math.max(0, history.periods.length - pageOffset(request))
  const page = history.periods.slice(Math.max(0, end - request.limit), end).reverse()
  const [entries, judged, told, unknownVersions] = await Promise.all([
    stores.history.plainEntries(
      prompt.organisationId,
      page.map(({ change }) => change.id),
    ),
    judgeChanges(stores, history, page, drift),
    telemetryOf(stores, history, page),
    unknownVersionsOf(stores, history),
  ])
  const segments = by === null ? null : await segmentsOfChanges(stores.signals, history, judged, by, drift)
  const entryOf = new Map(entries.map((entry) => [entry.id, entry]))
  return {
    impacts: judged.flatMap((change, i) => {
      const entry = entryOf.get(change.period.change.id)
      return entry === undefined ? [] : [{ ...toImpact(entry, change, told[i]), segments: segments?.[i] ?? null }]
    }),
    totalCount: history.periods.length,
    unknownVersions,
  }
}

export function toImpact(entry: HistoryEntry, judged: JudgedChange, told: TelemetryOfChange = nothingTold): Impact {
  const { period, before, after, difference, attributedBy, unattributed, effectiveSignals, verdict, explanation } =
    judged
  return {
    entry,
    liveFrom: liveFrom(period),
    liveUntil: liveUntil(period),
    liveSource: (period.windows[0] as LiveWindow).source,
    windows: period.windows,
    before: rated(before),
    after: rated(after),
    attributedBy,
    unattributed,
    ...told,
    effectiveSignals,
    difference: difference?.difference ?? null,
    interval: difference?.interval ?? null,
    verdict,
    explanation,
    isFirst: period.earlier === null,
    segments: null,
    trial: null,
  }
}

export function rated(tally: Tally): RatedTally {
  return { ...tally, rate: rateOf(tally) }
}
