import type { Prompt } from '../prompt.ts'
import type { ListedRegression, RegressionStore } from '../regressions/regression.ts'
import { intervalStarts } from '../signals/interval.ts'
import type { IntervalTally, SignalStore } from '../signals/signal.ts'
import { emptyTally, type Tally, totalOf } from '../signals/tally.ts'
import { day, dayStart, type Instant, nextTurn } from '../time.ts'
import type { Impact } from './impact.ts'
import { type LastChangeStores, lastChangesOf } from './last-changes.ts'
import type { LearnedDrift } from './model/learned-drift.ts'

/** A prompt with its latest change and recent signals. */
export interface Overview {
  prompt: Prompt
  /** The newest change that went live, with its impact. */
  lastChange: Impact | null
  /** Signals per day for the last 30 days including today, UTC. Days without signals are included. */
  days: IntervalTally[]
  /** The total of `days`. */
  signals: Tally
  /** The open regression with the largest loss. */
  regression: ListedRegression | null
}

interface OverviewStores extends LastChangeStores {
  signals: LastChangeStores['signals'] & Pick<SignalStore, 'tallyByDay'>
  regressions: Pick<RegressionStore, 'worstOpen'>
}

/** Returns overviews in the order of `prompts`. The number of queries does not depend on how many there are. */
export async function overviewsOf(
  stores: OverviewStores,
  learned: LearnedDrift,
  prompts: Prompt[],
  now: Instant,
): Promise<Overview[]> {
  // SQLite reads without a pause. Other requests run between reading the page and reading its prompts.
  await nextTurn()
  const since = overviewStart(now)
  const starts = intervalStarts('day', { from: since, until: now + 1 })
  const [lastChanges, days, regressions] = await Promise.all([
    lastChangesOf(stores, learned, prompts, now),
    stores.signals.tallyByDay(prompts, since),
    stores.regressions.worstOpen(
      prompts[0]?.organisationId ?? 0,
      prompts.map(({ id }) => id),
    ),
  ])
  const empty = starts.map((start): IntervalTally => ({ start, ...emptyTally }))
  return prompts.map((prompt, i) => {
    const ofPrompt = days[i] ?? []
    let next = 0
    const all = empty.map((none) => {
      const tally = ofPrompt[next]
      if (tally?.start !== none.start) return none
      next++
      return tally
    })
    return {
      prompt,
      lastChange: lastChanges.get(prompt.id) ?? null,
      days: all,
      signals: totalOf(all),
      regression: regressions.get(prompt.id) ?? null,
    }
  })
}

const overviewDays = 30

/** The start of the first day that an overview covers. */
export function overviewStart(now: Instant): Instant {
  return dayStart(now) - (overviewDays - 1) * day
}
