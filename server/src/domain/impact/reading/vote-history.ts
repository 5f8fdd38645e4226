import type { DeploymentStore } from '../../deployments/deployment.ts'
import type { LineSegment } from '../../deployments/live-line.ts'
import type { HistoryStore } from '../../history/history.ts'
import type { Prompt } from '../../prompt.ts'
import { maxVersions, type SignalStore, type VersionTally, type VoteWindow } from '../../signals/signal.ts'
import { countOf, type HourlySums, type Tally, totalOf } from '../../signals/tally.ts'
import type { VersionText } from '../../signals/version.ts'
import { day, hour, hourStart, type Instant } from '../../time.ts'
import { derivedFrom } from '../cache.ts'
import { type LivePeriods, livePeriodsOf } from '../live/live-periods.ts'
import type { LivePeriod } from '../live/live-window.ts'
import { now as atNow, type Moment } from '../live/moment.ts'
import { commitsToPlace, namedChanges, type ResolvedVersions, resolveVersions } from '../live/version-resolution.ts'

export interface VoteStores {
  history: Pick<HistoryStore, 'landedChanges'>
  signals: Pick<
    SignalStore,
    | 'hourlySums'
    | 'hourlySumsOfVersions'
    | 'versionedHourlySums'
    | 'versionNames'
    | 'versionNamesSince'
    | 'versionsOf'
    | 'versionTallies'
    | 'countByVersion'
    | 'startedHours'
  >
  deployments: Pick<DeploymentStore, 'line' | 'promptLine' | 'places'>
}

/** When the changes of a prompt were live, and the votes on it by the hour. */
export interface VoteHistory extends LivePeriods {
  prompt: Prompt
  moment: Moment
  hours: HourlySums
  /** Whether votes name versions. Without them, all votes count for the change that was live. */
  hasVersions: boolean
  /** The versions that name the change. */
  versionsOf(period: LivePeriod): readonly VersionText[]
  /** Versions that name no change. */
  unknownVersions: readonly VersionText[]
  /** The votes of the last hour up to a moment in the past, which are counted one by one. Part of `hours` too. */
  startedHour: readonly (Tally & { version: VersionText | null })[]
}

/** Everything that is known about a prompt's votes, and when its changes were live. */
export async function voteHistoryOf(stores: VoteStores, prompt: Prompt, moment: Moment): Promise<VoteHistory> {
  const { signals } = stores
  const [segments, landed, hours, names, startedHour] = await Promise.all([
    lineOf(stores, prompt),
    stores.history.landedChanges(prompt),
    signals.hourlySums(prompt, endOfHours(moment)),
    versionsOf(signals, prompt, moment.at),
    moment.isPast ? signals.countByVersion(prompt, { from: hourStart(moment.at), until: moment.at + 1 }) : [],
  ])
  const periods = livePeriodsOf(landed, segments, moment)
  const versions = names ?? (await signals.versionsOf(prompt)).map(({ version }) => version)
  const { ofChange, unknown } = await resolved(stores, prompt, periods, versions)
  return {
    ...periods,
    prompt,
    moment,
    hours: startedHour.length === 0 ? hours : withHour(hours, hourStart(moment.at), totalOf(startedHour)),
    hasVersions: versions.length > 0,
    // The first two also for a prompt with more versions than can be listed.
    versionsOf: ({ change: { id, commitSha } }) => [...new Set([commitSha, `#${id}`, ...(ofChange.get(id) ?? [])])],
    unknownVersions: unknown,
    startedHour,
  }
}

// A signal may be about a time up to 30 days before it arrives, and clocks may differ. Older ones are imported, which clears the cache.
const maxDelayMs = 31 * day

/** When a cached list of versions was seen for the first time. */
const firstSeen = (): { at: Instant | null } => ({ at: null })

/** The versions that signals name; null if there are too many to list. */
async function versionsOf(signals: VoteStores['signals'], prompt: Prompt, at: Instant): Promise<VersionText[] | null> {
  const names = await signals.versionNames(prompt)
  if (names.length > maxVersions) return null
  const seen = derivedFrom(names, firstSeen)
  if (seen.at === null) {
    seen.at = at
    return names
  }
  const recent = await signals.versionNamesSince(prompt, seen.at - maxDelayMs)
  if (recent === null) return null
  const known = new Set(names)
  const added = recent.filter((name) => !known.has(name))
  return added.length === 0 ? names : [...names, ...added]
}

/** Whole hours are read until here. For the past, that is before the hour of the moment. */
export function endOfHours({ at, isPast }: Moment): Instant {
  return isPast ? hourStart(at) : hourStart(at) + hour
}

/** The votes that count for a change. */
export function voteWindowOf({ moment, hasVersions, versionsOf }: VoteHistory, period: LivePeriod): VoteWindow {
  const end = moment.isPast ? moment.at + 1 : Number.MAX_SAFE_INTEGER
  return {
    versions: hasVersions ? versionsOf(period) : [],
    spans: period.credits.map(({ from, until }) => ({ from, until: Math.max(until ?? end, from) })),
    unversionedOnly: hasVersions,
    until: end,
  }
}

/** The votes on versions that name no change, most first. They count for none. */
export async function unknownVersionsOf(
  { signals }: Pick<VoteStores, 'signals'>,
  { prompt, moment, unknownVersions, startedHour }: VoteHistory,
): Promise<VersionTally[]> {
  if (unknownVersions.length === 0) return []
  const versions = unknownVersions.map((version) => ({ promptId: prompt.id, version }))
  const tallies = await signals.versionTallies(prompt.organisationId, versions, endOfHours(moment))
  const inStartedHour = new Map(startedHour.map((tally) => [tally.version, tally]))
  return unknownVersions
    .map((version, i): VersionTally => {
      const { positive, negative } = tallies[i] as Tally
      const started = inStartedHour.get(version)
      return {
        version,
        positive: positive + (started?.positive ?? 0),
        negative: negative + (started?.negative ?? 0),
      }
    })
    .filter((tally) => countOf(tally) > 0)
    .sort((a, b) => countOf(b) - countOf(a) || (a.version < b.version ? -1 : 1))
}

/** Always the same, because what is remembered of a prompt is known by its list of segments. */
export const noSegments: LineSegment[] = []

/** What was live according to the deployments that concern the prompt; empty without any. */
export async function lineOf({ deployments }: Pick<VoteStores, 'deployments'>, prompt: Prompt): Promise<LineSegment[]> {
  const own = await deployments.promptLine(prompt)
  if (own !== null || prompt.repositoryId === null) return own ?? noSegments
  return deployments.line(prompt.organisationId, prompt.repositoryId)
}

/** When the changes of a prompt were live, as far as is known now. */
export async function periodsOf(
  stores: Pick<VoteStores, 'history' | 'deployments'>,
  prompt: Prompt,
  now: Instant,
): Promise<LivePeriods> {
  const [segments, landed] = await Promise.all([lineOf(stores, prompt), stores.history.landedChanges(prompt)])
  return livePeriodsOf(landed, segments, atNow(now))
}

async function resolved(
  { deployments }: Pick<VoteStores, 'deployments'>,
  { organisationId, repositoryId }: Prompt,
  periods: LivePeriods,
  versions: VersionText[],
): Promise<ResolvedVersions> {
  const commits = repositoryId === null ? [] : commitsToPlace(periods.changes, versions)
  if (repositoryId === null || commits.length === 0) return namedChanges(periods, versions)
  const places = await deployments.places(organisationId, repositoryId, commits)
  return resolveVersions(periods.changes, versions, places, periods.live.versionIn)
}

/** The versions among these that name each change: those that spans name need not be those that signals name. */
export async function versionsNaming(
  stores: Pick<VoteStores, 'deployments'>,
  history: VoteHistory,
  versions: VersionText[],
): Promise<(period: LivePeriod) => ReadonlySet<VersionText>> {
  const { ofChange } = await resolved(stores, history.prompt, history, versions)
  return ({ change: { id, commitSha } }) => new Set([commitSha, `#${id}`, ...(ofChange.get(id) ?? [])])
}

/** The sums with those of one more hour at the end. */
function withHour(sums: HourlySums, start: Instant, { positive, negative }: Tally): HourlySums {
  return {
    start: [...sums.start, start],
    positive: [...sums.positive, positive],
    negative: [...sums.negative, negative],
  }
}
