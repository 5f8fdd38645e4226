import type { DeploymentStore } from '../deployments/deployment.ts'
import type { LineSegment, Place } from '../deployments/live-line.ts'
import { timedChanges } from '../history/change.ts'
import type { HistoryStore } from '../history/history.ts'
import type { Prompt } from '../prompt.ts'
import type { HourlySums, Series } from '../signals/series.ts'
import type { SignalStore, VersionTally } from '../signals/signal.ts'
import type { VersionText } from '../signals/version.ts'
import { type Life, type LiveHistory, liveHistory, newestLives } from './live-window.ts'
import { changesBy, type Moment, segmentsBy } from './moment.ts'
import { commitsToPlace, resolveVersions } from './version-resolution.ts'
import { instantsToSplit, unversionedHours, type WindowSums, windowSums } from './window-sums.ts'

export interface VoteStores {
  history: Pick<HistoryStore, 'landedChanges'>
  signals: Pick<SignalStore, 'series' | 'startedHours'>
  deployments: Pick<DeploymentStore, 'line' | 'promptLine' | 'places'>
}

/** When the changes of a prompt were live, and the votes on it by the hour. */
export interface VoteHistory {
  prompt: Prompt
  moment: Moment
  live: LiveHistory
  /** In the order in which they went live. */
  lives: Life[]
  series: Series
  /** The hourly sums of the votes that name no version. They count for the change that was live. */
  unversioned: HourlySums
  /** The versions that name the change. */
  versionsOf(life: Life): readonly VersionText[]
  /** Versions that name no change. */
  unknown: VersionTally[]
}

/** Everything that is known about a prompt's votes, and when its changes were live. */
export async function voteHistoryOf(stores: VoteStores, prompt: Prompt, moment: Moment): Promise<VoteHistory> {
  const [segments, landed, series] = await Promise.all([
    lineOf(stores, prompt),
    stores.history.landedChanges(prompt),
    stores.signals.series(prompt, moment.isPast ? moment.at + 1 : null),
  ])
  const changes = timedChanges(changesBy(moment, landed), moment.at)
  const live = liveHistory(changes, segmentsBy(moment, segments))
  const versions = series.versions.map(({ version, hours }) => ({ version, ...totalOfHours(hours) }))
  const places = await placesOf(stores, prompt, commitsToPlace(changes, versions))
  const { ofChange, unknown } = resolveVersions(changes, versions, places, live.versionIn)
  return {
    prompt,
    moment,
    live,
    lives: newestLives(live).reverse(),
    series,
    unversioned: unversionedHours(series),
    versionsOf: ({ change }) => ofChange.get(change.id) ?? [],
    unknown: unknown.sort(mostSignalsFirst),
  }
}

// The hours of this many changes can be split for each request.
const maxSplits = 200

/**
 * The votes that count for each change, in the order of `lives`. Hours in which a change went live are split exactly. In a long
 * history that is only done for the `wanted` changes: the others only tell how the votes wander.
 */
export async function windowsOf(
  { signals }: Pick<VoteStores, 'signals'>,
  history: VoteHistory,
  wanted: readonly Life[],
): Promise<WindowSums[]> {
  const { prompt, lives, series, unversioned, versionsOf } = history
  const all = instantsToSplit(lives, unversioned)
  const instants = all.length > maxSplits ? instantsToSplit(wanted, unversioned) : all
  const started = instants.length === 0 ? new Map() : await signals.startedHours(prompt, instants)
  return windowSums(lives, versionsOf, series, unversioned, started)
}

/** What was live according to the deployments that concern the prompt; empty without any. */
export async function lineOf({ deployments }: Pick<VoteStores, 'deployments'>, prompt: Prompt): Promise<LineSegment[]> {
  const own = await deployments.promptLine(prompt)
  if (own !== null || prompt.repositoryId === null) return own ?? []
  return deployments.line(prompt.organisationId, prompt.repositoryId)
}

async function placesOf(
  { deployments }: Pick<VoteStores, 'deployments'>,
  { organisationId, repositoryId }: Prompt,
  commits: string[],
): Promise<Map<string, Place>> {
  if (repositoryId === null || commits.length === 0) return new Map()
  return deployments.places(organisationId, repositoryId, commits)
}

function totalOfHours(hours: HourlySums): { positive: number; negative: number } {
  let [positive, negative] = [0, 0]
  for (let at = 0; at < hours.length; at += 3) {
    positive += hours[at + 1] as number
    negative += hours[at + 2] as number
  }
  return { positive, negative }
}

function mostSignalsFirst(a: VersionTally, b: VersionTally): number {
  return b.positive + b.negative - a.positive - a.negative || (a.version < b.version ? -1 : 1)
}
