import type { DeploymentStore } from '../deployments/deployment.ts'
import type { LineSegment, Place } from '../deployments/live-line.ts'
import { type TimedChange, timedChanges } from '../history/change.ts'
import type { HistoryStore } from '../history/history.ts'
import type { Prompt } from '../prompt.ts'
import type { PromptSpan, PromptVersion, SignalStore, VersionTally } from '../signals/signal.ts'
import { emptyTally, type Tally } from '../signals/tally.ts'
import type { VersionText } from '../signals/version.ts'
import type { Instant } from '../time.ts'
import { type Life, type LiveHistory, liveHistory } from './live-window.ts'
import { commitsToPlace, resolveVersions } from './version-resolution.ts'

export interface AttributionStores {
  history: Pick<HistoryStore, 'landedChanges'>
  signals: Pick<SignalStore, 'versionsOf' | 'tallies' | 'unversionedTallies' | 'versionTallies'>
  deployments: Pick<DeploymentStore, 'line' | 'promptLine' | 'places'>
}

/** Which change each signal of a prompt counts for. */
export interface Attribution {
  changes: TimedChange[]
  live: LiveHistory
  /** Whether signals name versions. Without them, all signals count by time. */
  hasVersions: boolean
  /** The versions that name the change. */
  versionsOf(change: TimedChange): VersionText[]
  /** Versions that name no change. */
  unknown: VersionTally[]
}

/** The signals that count for a change. */
export interface Credited {
  tally: Tally
  /** Of these, the signals without a version that came while another version was live too. */
  unattributed: number
}

/** Null if only merges and times tell: the prompt has no deployments, and its signals name no versions. */
export async function attributionOf(
  stores: AttributionStores,
  prompt: Prompt,
  now: Instant,
): Promise<Attribution | null> {
  const [segments, versions] = await Promise.all([lineOf(stores, prompt), stores.signals.versionsOf(prompt)])
  if (segments.length === 0 && versions.length === 0) return null
  const changes = timedChanges(await stores.history.landedChanges(prompt), now)
  const live = liveHistory(changes, segments)
  const places = await placesOf(stores, prompt, commitsToPlace(changes, versions))
  const { ofChange, unknown } = resolveVersions(changes, versions, places, live.versionIn)
  return {
    changes,
    live,
    hasVersions: versions.length > 0,
    // The first two also for a prompt with more versions than can be listed.
    versionsOf: ({ id, commitSha }) => [...new Set([commitSha, `#${id}`, ...(ofChange.get(id) ?? [])])],
    unknown,
  }
}

/** When each change of the prompt was live; null if only merges tell. */
export async function deployedHistory(
  stores: Pick<AttributionStores, 'history' | 'deployments'>,
  prompt: Prompt,
  now: Instant,
): Promise<LiveHistory | null> {
  const segments = await lineOf(stores, prompt)
  if (segments.length === 0) return null
  return liveHistory(timedChanges(await stores.history.landedChanges(prompt), now), segments)
}

/** What was live according to the deployments that concern the prompt; empty without any. */
async function lineOf({ deployments }: Pick<AttributionStores, 'deployments'>, prompt: Prompt): Promise<LineSegment[]> {
  const own = await deployments.promptLine(prompt)
  if (own !== null || prompt.repositoryId === null) return own ?? []
  return deployments.line(prompt.organisationId, prompt.repositoryId)
}

async function placesOf(
  { deployments }: AttributionStores,
  { organisationId, repositoryId }: Prompt,
  commits: string[],
): Promise<Map<string, Place>> {
  if (repositoryId === null || commits.length === 0) return new Map()
  return deployments.places(organisationId, repositoryId, commits)
}

/** A change whose signals are wanted, and the versions that name it. */
export interface Credit {
  promptId: number
  life: Life | undefined
  versions: VersionText[]
}

/** The signals that count for each of these changes. */
export async function creditedTallies(
  { signals }: Pick<AttributionStores, 'signals'>,
  organisationId: number,
  credits: Credit[],
  now: Instant,
): Promise<Credited[]> {
  const spans = credits.flatMap(({ promptId, life, versions }, i) =>
    (life?.credits ?? []).map(({ from, until, shared }) => ({
      credit: i,
      shared,
      hasVersions: versions.length > 0,
      // It includes signals of the current millisecond.
      span: { promptId, from, until: Math.max(until ?? now + 1, from) } satisfies PromptSpan,
    })),
  )
  const versions = credits.flatMap(({ promptId, versions }, i) =>
    versions.map((version) => ({ credit: i, version: { promptId, version } satisfies PromptVersion })),
  )
  const [plain, mixed] = [spans.filter((each) => !each.hasVersions), spans.filter((each) => each.hasVersions)]
  const [plainTallies, mixedTallies, versionTallies] = await Promise.all([
    signals.tallies(
      organisationId,
      plain.map(({ span }) => span),
    ),
    signals.unversionedTallies(
      organisationId,
      mixed.map(({ span }) => span),
    ),
    signals.versionTallies(
      organisationId,
      versions.map(({ version }) => version),
    ),
  ])
  const credited: Credited[] = credits.map(() => ({ tally: emptyTally, unattributed: 0 }))
  const add = (at: number, tally: Tally, shared: boolean) => {
    const sum = credited[at] as Credited
    sum.tally = {
      positive: sum.tally.positive + tally.positive,
      negative: sum.tally.negative + tally.negative,
    }
    if (shared) sum.unattributed += tally.positive + tally.negative
  }
  for (const [i, { credit, shared }] of plain.entries()) add(credit, plainTallies[i] ?? emptyTally, shared)
  for (const [i, { credit, shared }] of mixed.entries()) add(credit, mixedTallies[i] ?? emptyTally, shared)
  for (const [i, { credit }] of versions.entries()) add(credit, versionTallies[i] ?? emptyTally, false)
  return credited
}
