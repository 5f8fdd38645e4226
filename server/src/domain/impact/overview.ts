import type { DeploymentStore } from '../deployments/deployment.ts'
import type { LineSegment, Place } from '../deployments/live-line.ts'
import { timedChanges } from '../history/change.ts'
import type { HistoryStore } from '../history/history.ts'
import type { Prompt } from '../prompt.ts'
import { intervalStarts } from '../signals/interval.ts'
import type { IntervalTally, PromptSpan, SignalStore } from '../signals/signal.ts'
import { emptyTally, type Tally } from '../signals/tally.ts'
import { day, dayStart, type Instant } from '../time.ts'
import { type AttributionStores, type Credited, creditedTallies } from './attribution.ts'
import { type Impact, impactOfLife, measureImpact, mergedLive, spanOf } from './impact.ts'
import { type Life, type LiveHistory, liveHistory, newestLives } from './live-window.ts'
import { versionsNaming } from './version-resolution.ts'

/** A prompt with its latest change and recent signals. */
export interface Overview {
  prompt: Prompt
  /** The newest change that went live, with its impact. */
  lastChange: Impact | null
  /** Signals per day for the last 30 days including today, UTC. Days without signals are included. */
  days: IntervalTally[]
  /** The total of `days`. */
  signals: Tally
}

export interface OverviewStores {
  history: Pick<HistoryStore, 'lastChanges' | 'landedChanges' | 'newestChanges' | 'entries'>
  signals: AttributionStores['signals'] & Pick<SignalStore, 'tallyByDay' | 'versionedPrompts'>
  deployments: AttributionStores['deployments'] & Pick<DeploymentStore, 'placesFrom' | 'deployedPrompts'>
}

/** Returns overviews in the order of `prompts`. The number of queries does not depend on how many there are. */
export async function overviewsOf(stores: OverviewStores, prompts: Prompt[], now: Instant): Promise<Overview[]> {
  const since = overviewStart(now)
  const starts = intervalStarts('day', { from: since, until: now + 1 })
  const [lastChanges, days] = await Promise.all([
    lastChangesOf(stores, prompts, now),
    stores.signals.tallyByDay(prompts, since),
  ])
  return prompts.map((prompt, i) => {
    const ofDay = new Map(days[i]?.map((tally) => [tally.start, tally]))
    const all = starts.map((start) => ofDay.get(start) ?? { start, ...emptyTally })
    return {
      prompt,
      lastChange: lastChanges.get(prompt.id) ?? null,
      days: all,
      signals: {
        positive: all.reduce((sum, { positive }) => sum + positive, 0),
        negative: all.reduce((sum, { negative }) => sum + negative, 0),
      },
    }
  })
}

async function lastChangesOf(stores: OverviewStores, prompts: Prompt[], now: Instant): Promise<Map<number, Impact>> {
  const [first] = prompts
  if (first === undefined) return new Map()
  const { organisationId } = first
  const [lines, versioned] = await Promise.all([
    linesOf(stores, organisationId, prompts),
    stores.signals.versionedPrompts(
      organisationId,
      prompts.map(({ id }) => id),
    ),
  ])
  const isPlain = ({ id }: Prompt) => !lines.has(id) && !versioned.has(id)
  const [merged, attributed] = await Promise.all([
    lastMerges(stores, prompts.filter(isPlain), now),
    lastAttributed(
      stores,
      prompts.filter((prompt) => !isPlain(prompt)),
      { lines, versioned },
      now,
    ),
  ])
  return new Map([...merged, ...attributed])
}

/** The last changes of prompts without deployments and versions. */
async function lastMerges(
  { history, signals }: OverviewStores,
  prompts: Prompt[],
  now: Instant,
): Promise<[number, Impact][]> {
  if (prompts.length === 0) return []
  const changes = await history.lastChanges(prompts, now)
  const spans = prompts.flatMap(({ id }, i): PromptSpan[] =>
    (changes[i] ?? []).map((change) => ({ promptId: id, ...spanOf(change, now) })),
  )
  const tallies = await signals.tallies(prompts[0]?.organisationId ?? 0, spans)
  return prompts.flatMap(({ id }, i): [number, Impact][] => {
    const [last, earlier] = (changes[i] ?? []).map((change) => ({ change, tally: tallies.shift() ?? emptyTally }))
    if (last === undefined) return []
    return [[id, measureImpact(mergedLive(last.change), earlier?.tally ?? emptyTally, last.tally)]]
  })
}

/** What was live according to deployments, by prompt. Prompts without deployments are absent. */
async function linesOf(
  { deployments }: OverviewStores,
  organisationId: number,
  prompts: Prompt[],
): Promise<Map<number, LineSegment[]>> {
  const repositories = [...new Set(prompts.map(({ repositoryId }) => repositoryId))].filter((id) => id !== null)
  const [deployed, ...lines] = await Promise.all([
    deployments.deployedPrompts(
      organisationId,
      prompts.map(({ id }) => id),
    ),
    ...repositories.map((id) => deployments.line(organisationId, id)),
  ])
  const lineOf = new Map(repositories.map((id, i) => [id, lines[i] ?? []]))
  const found = new Map<number, LineSegment[]>()
  for (const prompt of prompts) {
    const shared = prompt.repositoryId === null ? [] : (lineOf.get(prompt.repositoryId) ?? [])
    const segments = (deployed.has(prompt.id) ? await deployments.promptLine(prompt) : null) ?? shared
    if (segments.length > 0) found.set(prompt.id, segments)
  }
  return found
}

// Enough to find the last two versions of almost every prompt. The others are read in full.
const maxRecentChanges = 50

interface LastLife {
  prompt: Prompt
  live: LiveHistory
  life: Life
}

/** The last changes of prompts with deployments or versions. */
async function lastAttributed(
  stores: OverviewStores,
  prompts: Prompt[],
  { lines, versioned }: { lines: Map<number, LineSegment[]>; versioned: Set<number> },
  now: Instant,
): Promise<[number, Impact][]> {
  if (prompts.length === 0) return []
  const { organisationId } = prompts[0] as Prompt
  const recent = await stores.history.newestChanges(prompts, maxRecentChanges)
  const last = (
    await Promise.all(
      prompts.map(async (prompt, i): Promise<LastLife | null> => {
        const historyOf = (changes: Parameters<typeof timedChanges>[0]) => {
          const live = liveHistory(timedChanges(changes, now), lines.get(prompt.id) ?? [])
          return { prompt, live, life: newestLives(live)[0] }
        }
        const changes = recent[i] ?? []
        let found = historyOf(changes)
        const isCut = changes.length === maxRecentChanges
        const isUnsure = found.life === undefined || found.life.earlier === null || found.live.at(now).length === 0
        if (isCut && isUnsure) found = historyOf(await stores.history.landedChanges(prompt))
        const { live, life } = found
        return life === undefined ? null : { prompt, live, life }
      }),
    )
  ).filter((each) => each !== null)
  const places = await recentPlaces(stores, organisationId, last, versioned)
  const wanted = last.flatMap(({ prompt, live, life }) =>
    [life.change, life.earlier].map((change) => ({
      promptId: prompt.id,
      life: change === null ? undefined : live.lives.get(change.id),
      versions:
        change === null || !versioned.has(prompt.id)
          ? []
          : versionsNaming(change, places.get(prompt.repositoryId) ?? [], live.versionIn),
    })),
  )
  const [tallies, entries] = await Promise.all([
    creditedTallies(stores, organisationId, wanted, now),
    stores.history.entries(
      organisationId,
      last.map(({ life }) => life.change.id),
    ),
  ])
  const entryOf = new Map(entries.map((entry) => [entry.id, entry]))
  return last.flatMap(({ prompt, life }, i): [number, Impact][] => {
    const entry = entryOf.get(life.change.id)
    if (entry === undefined) return []
    const creditedTo = (id: number): Credited | undefined => tallies[2 * i + (id === life.change.id ? 0 : 1)]
    return [[prompt.id, impactOfLife(entry, life, creditedTo)]]
  })
}

/** The commits on the lines of the repositories that may be a version of one of these changes. */
async function recentPlaces(
  { deployments }: OverviewStores,
  organisationId: number,
  last: LastLife[],
  versioned: Set<number>,
): Promise<Map<number | null, Place[]>> {
  const oldest = new Map<number, number>()
  for (const { prompt, life } of last) {
    const { repositoryId } = prompt
    const seq = Math.min(life.change.seq ?? 0, life.earlier?.seq ?? life.change.seq ?? 0)
    if (repositoryId === null || !versioned.has(prompt.id)) continue
    oldest.set(repositoryId, Math.min(oldest.get(repositoryId) ?? seq, seq))
  }
  return new Map(
    await Promise.all(
      [...oldest].map(async ([id, seq]) => [id, await deployments.placesFrom(organisationId, id, seq)] as const),
    ),
  )
}

const overviewDays = 30

/** The start of the first day that an overview covers. */
export function overviewStart(now: Instant): Instant {
  return dayStart(now) - (overviewDays - 1) * day
}
