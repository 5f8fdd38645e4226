import type { DeploymentStore } from '../deployments/deployment.ts'
import type { LineSegment, Place } from '../deployments/live-line.ts'
import type { LandedChange } from '../history/change.ts'
import type { HistoryStore } from '../history/history.ts'
import type { Prompt } from '../prompt.ts'
import type { SignalStore } from '../signals/signal.ts'
import { type Instant, nextTurn } from '../time.ts'
import { type Impact, toImpact } from './impact.ts'
import { type JudgeStores, judgeAll, type WantedChange } from './judged-changes.ts'
import { type LivePeriods, livePeriodsOf } from './live/live-periods.ts'
import { type LivePeriod, liveFrom } from './live/live-window.ts'
import { now as atNow } from './live/moment.ts'
import { versionsNaming } from './live/version-resolution.ts'
import type { LearnedDrift } from './model/learned-drift.ts'
import { noSegments } from './reading/vote-history.ts'

export interface LastChangeStores {
  history: Pick<HistoryStore, 'landedChanges' | 'newestChanges' | 'plainEntries'>
  signals: JudgeStores['signals'] & Pick<SignalStore, 'hourlySumsAround' | 'versionedPrompts'>
  segments: JudgeStores['segments']
  shifts: JudgeStores['shifts']
  telemetry: JudgeStores['telemetry']
  deployments: JudgeStores['deployments'] & Pick<DeploymentStore, 'placesFrom' | 'deployedPrompts'>
}

// Enough to find the last two versions of almost every prompt. The others are read in full.
const maxRecentChanges = 50
// Of a prompt in a list, this many hours with votes before its last change count, and as many after it: 20 days of every hour.
const maxHoursPerSide = 500
// For voters and segments each. What has been read is remembered, so later requests read the rest.
const maxSingleVotes = 20_000

interface LastPeriod {
  prompt: Prompt
  periods: LivePeriods
  period: LivePeriod
}

/**
 * The last change of each prompt that went live, by the ID of the prompt. The number of queries does not depend on how many prompts
 * there are, so an impact rests on a part of a long history only.
 */
export async function lastChangesOf(
  stores: LastChangeStores,
  learned: LearnedDrift,
  prompts: Prompt[],
  now: Instant,
): Promise<Map<number, Impact>> {
  const [first] = prompts
  if (first === undefined) return new Map()
  const { organisationId } = first
  const ids = prompts.map(({ id }) => id)
  const [recent, lines, versioned] = await Promise.all([
    stores.history.newestChanges(prompts, maxRecentChanges),
    linesOf(stores, organisationId, prompts),
    stores.signals.versionedPrompts(organisationId, ids),
  ])
  const last = await lastPeriods(stores, prompts, recent, lines, now)
  await nextTurn()
  const [hours, places, entries] = await Promise.all([
    stores.signals.hourlySumsAround(
      organisationId,
      last.map(({ prompt, period }) => ({ promptId: prompt.id, at: liveFrom(period) })),
      maxHoursPerSide,
    ),
    recentPlaces(stores, organisationId, last, versioned),
    stores.history.plainEntries(
      organisationId,
      last.map(({ period }) => period.change.id),
    ),
  ])
  const wanted = await Promise.all(
    last.map(async ({ prompt, periods, period }, i): Promise<WantedChange> => {
      const located = places.get(prompt.repositoryId) ?? []
      const history = {
        ...periods,
        prompt,
        moment: atNow(now),
        hours: hours[i] ?? { start: [], positive: [], negative: [] },
        hasVersions: versioned.has(prompt.id),
        versionsOf: ({ change }: LivePeriod) => versionsNaming(change, located, periods.live.versionIn),
        unknownVersions: [],
        startedHour: [],
      }
      return { history, period, drift: await learned.of(prompt) }
    }),
  )
  const judged = await judgeAll(stores, wanted, maxSingleVotes)
  const entryOf = new Map(entries.map((entry) => [entry.id, entry]))
  return new Map(
    last.flatMap(({ prompt, period }, i) => {
      const entry = entryOf.get(period.change.id)
      const change = judged[i]
      return entry === undefined || change === undefined ? [] : [[prompt.id, toImpact(entry, change)] as const]
    }),
  )
}

async function lastPeriods(
  { history }: LastChangeStores,
  prompts: Prompt[],
  recent: LandedChange[][],
  lines: Map<number, LineSegment[]>,
  now: Instant,
): Promise<LastPeriod[]> {
  const found = await Promise.all(
    prompts.map(async (prompt, i): Promise<LastPeriod | null> => {
      const periodsOf = (changes: Parameters<typeof livePeriodsOf>[0]) =>
        livePeriodsOf(changes, lines.get(prompt.id) ?? noSegments, atNow(now))
      const changes = recent[i] ?? []
      let periods = periodsOf(changes)
      let period = periods.periods.at(-1)
      const isCut = changes.length === maxRecentChanges
      const isUnsure = period === undefined || period.earlier === null || periods.live.at(now).length === 0
      if (isCut && isUnsure) {
        periods = periodsOf(await history.landedChanges(prompt))
        period = periods.periods.at(-1)
      }
      return period === undefined ? null : { prompt, periods, period }
    }),
  )
  return found.filter((each) => each !== null)
}

/** What was live according to deployments, by prompt. Prompts without deployments are absent. */
async function linesOf(
  { deployments }: LastChangeStores,
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

/** The commits on the lines of the repositories that may be a version of one of these changes. */
async function recentPlaces(
  { deployments }: LastChangeStores,
  organisationId: number,
  last: LastPeriod[],
  versioned: Set<number>,
): Promise<Map<number | null, Place[]>> {
  const oldest = new Map<number, number>()
  for (const { prompt, period } of last) {
    const { repositoryId } = prompt
    const seq = Math.min(period.change.seq ?? 0, period.earlier?.seq ?? period.change.seq ?? 0)
    if (repositoryId === null || !versioned.has(prompt.id)) continue
    oldest.set(repositoryId, Math.min(oldest.get(repositoryId) ?? seq, seq))
  }
  return new Map(
    await Promise.all(
      [...oldest].map(async ([id, seq]) => [id, await deployments.placesFrom(organisationId, id, seq)] as const),
    ),
  )
}
