import { countOf, emptyTally, type Tally, totalOf } from '../../signals/tally.ts'
import type { ScoreTally, TelemetryStore } from '../../telemetry/telemetry.ts'
import type { Instant } from '../../time.ts'
import { earlierPeriod, type LivePeriod } from '../live/live-window.ts'
import { endOfHours, type VoteHistory, type VoteStores, versionsNaming } from './vote-history.ts'

/** What OpenTelemetry tells about a change. No verdict depends on it. */
export interface TelemetryOfChange {
  /** How often both versions were called; null if no span has told. */
  exposures: ChangeExposures | null
  /** Scores of judges, which are in no other figure. */
  evaluations: ScoresOfChange[]
}

export const nothingTold: TelemetryOfChange = { exposures: null, evaluations: [] }

type Stores = Pick<VoteStores, 'deployments'> & { telemetry: Pick<TelemetryStore, 'exposures' | 'scores'> }

export async function telemetryOf(
  stores: Stores,
  history: VoteHistory,
  periods: readonly LivePeriod[],
): Promise<TelemetryOfChange[]> {
  const [exposures, scores] = await Promise.all([
    exposuresOf(stores, history, periods),
    judgeScoresOf(stores, history, periods),
  ])
  return periods.map((_, i) => ({ exposures: exposures[i] ?? null, evaluations: scores[i] ?? [] }))
}

/** How often the version of a change was called, and that of the change before it. */
interface ChangeExposures {
  /** Null without a change before it. */
  before: number | null
  after: number
}

/** The calls of each of these changes, from spans. All null for a prompt without any. They do not decide anything. */
async function exposuresOf(
  stores: Stores,
  history: VoteHistory,
  periods: readonly LivePeriod[],
): Promise<(ChangeExposures | null)[]> {
  const { prompt, moment } = history
  const found = periods.length === 0 ? null : await stores.telemetry.exposures(prompt, endOfHours(moment))
  if (found === null) return periods.map(() => null)
  const { byVersion, unversioned } = found
  const versionsOf = await versionsNaming(stores, history, [...byVersion.keys()])
  const callsOf = (period: LivePeriod): number => {
    const named = [...versionsOf(period)].reduce((sum, version) => sum + (byVersion.get(version) ?? 0), 0)
    const isLive = creditedHours(period)
    return unversioned.reduce((sum, { hour, calls }) => (isLive(hour) ? sum + calls : sum), named)
  }
  return periods.map((period) => {
    const earlier = earlierPeriod(history.live, period)
    return { before: earlier === undefined ? null : callsOf(earlier), after: callsOf(period) }
  })
}

/** Whether what names no version in an hour counts for the change. An hour counts for what was live at its start. */
function creditedHours({ credits }: LivePeriod): (hour: Instant) => boolean {
  return (hour) => credits.some(({ from, until }) => hour >= from && (until === null || hour < until))
}

/** The scores of one evaluation of judges before and after a change. They are no votes, and verdicts do not read them. */
interface ScoresOfChange {
  name: string
  before: Tally
  after: Tally
}

const maxNames = 20

/** For each change, the evaluations with the most scores. */
async function judgeScoresOf(
  stores: Stores,
  history: VoteHistory,
  periods: readonly LivePeriod[],
): Promise<ScoresOfChange[][]> {
  const { prompt, moment } = history
  const scores = periods.length === 0 ? [] : await stores.telemetry.scores(prompt, endOfHours(moment))
  if (scores.length === 0) return periods.map(() => [])
  const named = new Set(scores.map(({ version }) => version).filter((version) => version !== ''))
  const versionsOf = await versionsNaming(stores, history, [...named])
  const byName = Map.groupBy(scores, ({ name }) => name)
  const tallyOf = (period: LivePeriod | undefined, ofName: ScoreTally[]): Tally => {
    if (period === undefined) return emptyTally
    const names = versionsOf(period)
    const isLive = creditedHours(period)
    const counted = ofName.filter(({ version, hour }) => (version === '' ? isLive(hour) : names.has(version)))
    return totalOf(counted)
  }
  return periods.map((period) =>
    [...byName]
      .map(([name, ofName]) => {
        return { name, before: tallyOf(earlierPeriod(history.live, period), ofName), after: tallyOf(period, ofName) }
      })
      .filter(({ before, after }) => countOf(before) + countOf(after) > 0)
      .sort((a, b) => countOf(b.after) - countOf(a.after) || (a.name < b.name ? -1 : 1))
      .slice(0, maxNames),
  )
}
