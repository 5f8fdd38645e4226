import { emptyTally, type Tally } from '../../signals/tally.ts'
import type { ScoreTally, TelemetryStore } from '../../telemetry/telemetry.ts'
import type { JudgedChange } from '../judged-changes.ts'
import type { LivePeriod } from '../live/live-window.ts'
import { creditedHours, earlierPeriod } from './exposures.ts'
import { endOfHours, type VoteHistory, type VoteStores, versionsNaming } from './vote-history.ts'

/** The scores of one evaluation of judges before and after a change. They are no votes, and verdicts do not read them. */
export interface ScoresOfChange {
  name: string
  before: Tally
  after: Tally
}

const maxNames = 20

/** For each change, the evaluations with the most scores. */
export async function judgeScoresOf(
  stores: Pick<VoteStores, 'deployments'> & { telemetry: Pick<TelemetryStore, 'scores'> },
  history: VoteHistory,
  judged: readonly JudgedChange[],
): Promise<ScoresOfChange[][]> {
  const { prompt, moment } = history
  const scores = judged.length === 0 ? [] : await stores.telemetry.scores(prompt, endOfHours(moment))
  if (scores.length === 0) return judged.map(() => [])
  const named = new Set(scores.map(({ version }) => version).filter((version) => version !== ''))
  const versionsOf = await versionsNaming(stores, history, [...named])
  const byName = Map.groupBy(scores, ({ name }) => name)
  const tallyOf = (period: LivePeriod | undefined, ofName: ScoreTally[]): Tally => {
    if (period === undefined) return emptyTally
    const names = versionsOf(period)
    const isLive = creditedHours(period)
    const counted = ofName.filter(({ version, hour }) => (version === '' ? isLive(hour) : names.has(version)))
    const sum = (value: keyof Tally) => counted.reduce((total, score) => total + score[value], 0)
    return { positive: sum('positive'), negative: sum('negative') }
  }
  return judged.map(({ period }) =>
    [...byName]
      .map(([name, ofName]) => {
        return { name, before: tallyOf(earlierPeriod(history, period), ofName), after: tallyOf(period, ofName) }
      })
      .filter(({ before, after }) => countOf(before) + countOf(after) > 0)
      .sort((a, b) => countOf(b.after) - countOf(a.after) || (a.name < b.name ? -1 : 1))
      .slice(0, maxNames),
  )
}

function countOf({ positive, negative }: Tally): number {
  return positive + negative
}
