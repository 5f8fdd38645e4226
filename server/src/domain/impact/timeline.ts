import type { EntryDetails } from '../history/entry.ts'
import type { HistoryStore, PullSpan, TimelineFilter } from '../history/history.ts'
import type { PageRequest } from '../page.ts'
import type { Prompt } from '../prompt.ts'
import type { VersionTally } from '../signals/signal.ts'
import { joinModelChanges, type ModelChange, modelChangesOfVotes, modelKeys } from '../telemetry/model-changes.ts'
import type { Instant } from '../time.ts'
import { type Impact, type ImpactStores, toImpact } from './impact.ts'
import { type JudgedChange, type JudgeStores, judgeChanges, modelChangesOfPrompt } from './judged-changes.ts'
import type { Moment } from './live/moment.ts'
import { type Drift, defaultDrift } from './model/drift.ts'
import type { AudienceStores } from './reading/audience.ts'
import { segmentVotesOf } from './reading/segment-votes.ts'
import { type TelemetryOfChange, telemetryOf } from './reading/telemetry.ts'
import { endOfHours, unknownVersionsOf, type VoteHistory, voteHistoryOf } from './reading/vote-history.ts'
import { segmentsOfChanges } from './segment-impact.ts'

/** A history entry with its impact. `impact` is null if the change did not go live. */
export interface TimelineEntry {
  entry: EntryDetails
  /** Of its pull request; null without one. */
  pull: PullSpan | null
  impact: Impact | null
}

interface Timeline {
  /** Null unless they were asked for. */
  modelChanges: ModelChange[] | null
  entries: TimelineEntry[]
  totalCount: number
  /** Signals that name a version which is none of the prompt's changes. They count for no change. */
  unknownVersions: VersionTally[]
}

export interface TimelineStores extends Omit<ImpactStores, 'history'> {
  history: Pick<HistoryStore, 'landedChanges' | 'timeline' | 'pullSpans'>
}

interface TimelineEntryStores extends Omit<ImpactStores, 'history'> {
  history: Pick<HistoryStore, 'landedChanges' | 'find' | 'pullSpans'>
}

/** The history with everything known about each change. */
export async function timelineOf(
  stores: TimelineStores,
  prompt: Prompt,
  filter: TimelineFilter,
  request: PageRequest,
  moment: Moment,
  drift?: Readonly<Drift>,
  { withModels = false, withMetadata = true } = {},
): Promise<Timeline> {
  const [history, { entries, totalCount }] = await Promise.all([
    voteHistoryOf(stores, prompt, moment),
    stores.history.timeline(prompt, knownBy(moment, filter), request),
  ])
  const periods = entries.map(({ id }) => history.live.periods.get(id)).filter((period) => period !== undefined)
  const [judged, told, unknownVersions, pulls] = await Promise.all([
    judgeChanges(stores, history, periods, drift),
    telemetryOf(stores, history, periods),
    unknownVersionsOf(stores, history),
    stores.history.pullSpans(prompt, entries, knownUntil(moment)),
  ])
  const modelChanges = withModels ? await modelChangesFrom(stores, history, judged, withMetadata) : null
  return { entries: toTimelineEntries(entries, pulls, judged, told), totalCount, unknownVersions, modelChanges }
}

/** All that is known about the model, and from metadata what the newest votes and those of these changes say. */
async function modelChangesFrom(
  stores: JudgeStores,
  history: VoteHistory,
  judged: readonly JudgedChange[],
  withMetadata: boolean,
): Promise<ModelChange[]> {
  const known = await modelChangesOfPrompt(stores, history)
  if (!withMetadata) return joinModelChanges(...known)
  // Two changes can be acquitted by the same one.
  const named = judged.flatMap(({ reason }) => (reason?.kind === 'model' ? [[reason.change]] : []))
  return joinModelChanges(...known, ...named, ...(await modelChangesOfNewestVotes(stores, history)))
}

/**
 * One entry of the timeline, or null if there is none. Only this change is judged, however many there are. `by` adds the impact in
 * each segment.
 */
export async function timelineEntryOf(
  stores: TimelineEntryStores,
  prompt: Prompt,
  entryId: number,
  moment: Moment,
  drift: Readonly<Drift> = defaultDrift,
  by: string | null = null,
): Promise<TimelineEntry | null> {
  const entry = await stores.history.find(prompt, entryId)
  if (entry === null || (moment.isPast && entry.createdAt > moment.at)) return null
  const [history, [pull = null]] = await Promise.all([
    voteHistoryOf(stores, prompt, moment),
    stores.history.pullSpans(prompt, [entry], knownUntil(moment)),
  ])
  const period = history.live.periods.get(entry.id)
  if (period === undefined) return { entry, pull, impact: null }
  const [judged, [told]] = await Promise.all([
    judgeChanges(stores, history, [period], drift),
    telemetryOf(stores, history, [period]),
  ])
  const segments = by === null ? [] : await segmentsOfChanges(stores.signals, history, judged, by, drift)
  const impact = toImpact(entry, judged[0] as JudgedChange, told)
  return { entry, pull, impact: { ...impact, segments: segments[0] ?? null } }
}

export function toTimelineEntries(
  entries: EntryDetails[],
  pulls: (PullSpan | null)[],
  judged: JudgedChange[],
  told: TelemetryOfChange[] = [],
): TimelineEntry[] {
  const placeOf = new Map(judged.map((change, place) => [change.period.change.id, place]))
  return entries.map((entry, i) => {
    const place = placeOf.get(entry.id)
    const impact = place === undefined ? null : toImpact(entry, judged[place] as JudgedChange, told[place])
    return { entry, pull: pulls[i] ?? null, impact }
  })
}

/** Leaves out what was not known yet. */
export function knownBy({ at, isPast }: Moment, filter: TimelineFilter): TimelineFilter {
  return isPast ? { ...filter, until: Math.min(filter.until ?? at + 1, at + 1), knownUntil: at } : filter
}

export function knownUntil({ at, isPast }: Moment): Instant | null {
  return isPast ? at : null
}

/** When the newest 20,000 votes began to name another model, by each declared key that names it. */
async function modelChangesOfNewestVotes(
  { signals, segments }: AudienceStores,
  { prompt, moment }: Pick<VoteHistory, 'prompt' | 'moment'>,
): Promise<ModelChange[][]> {
  const keys = (await segments.ofPrompt(prompt)).keys.filter((key) => modelKeys.includes(key))
  if (keys.length === 0) return []
  const until = moment.isPast ? moment.at + 1 : endOfHours(moment)
  const window = { versions: [], spans: [{ from: 0, until }], unversionedOnly: false, until }
  const byKey = await segmentVotesOf(signals, prompt, window, 'newest', keys)
  return [...byKey.values()].map((byValue) =>
    modelChangesOfVotes(
      [...byValue].flatMap(([model, votes]) => (model === null ? [] : votes.map(({ at }) => ({ at, model })))),
    ),
  )
}
