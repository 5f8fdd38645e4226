import { invalidField } from '../../errors.ts'
import type { Prompt } from '../../prompt.ts'
import type { CountedSignals, CountedSpan } from '../../signals/counted-signals.ts'
import type { RetentionStore } from '../../signals/retention.ts'
import { countOf, emptyTally, totalOf } from '../../signals/tally.ts'
import { day, dayStart, hour, hourStart, type Instant } from '../../time.ts'
import { earlierPeriod } from '../live/live-window.ts'
import { now } from '../live/moment.ts'
import type { Sum } from '../model/blocks.ts'
import { type VoteStores, voteHistoryOf, voteWindowOf } from './vote-history.ts'
import { windowSumsOf } from './window-sums.ts'

export const changeSides = ['before', 'after'] as const

type ChangeSide = (typeof changeSides)[number]

/** One of the two groups of signals that the impact of a change compares. */
export interface SideOfChange {
  entryId: number
  side: ChangeSide
}

export interface ChangeSignalStores extends VoteStores {
  signals: VoteStores['signals'] & Pick<RetentionStore, 'retainedSince'>
}

/** Exactly the signals that the impact counts, from the same sums, so that both always agree. */
export async function signalsOfChange(
  stores: ChangeSignalStores,
  prompt: Prompt,
  { entryId, side }: SideOfChange,
  at: Instant,
): Promise<CountedSignals> {
  const [history, retainedSince] = await Promise.all([
    voteHistoryOf(stores, prompt, now(at)),
    stores.signals.retainedSince(),
  ])
  const change = history.live.periods.get(entryId)
  if (change === undefined) throw invalidField('change', 'must be the ID of a change of this prompt that went live')
  const period = side === 'after' ? change : earlierPeriod(history.live, change)
  if (period === undefined) return nothing
  const [window] = await windowSumsOf(stores, [{ history, period }])
  return {
    window: voteWindowOf(history, period),
    hours: hoursOf(window?.sums ?? [], at).filter(({ from }) => from >= retainedSince),
    counted: countOf(window?.tally ?? emptyTally),
  }
}

const nothing: CountedSignals = {
  window: { versions: [], spans: [], unversionedOnly: false, until: 0 },
  hours: [],
  counted: 0,
}

// The store sums up older hours by day, see `SignalStore.hourlySums`.
const byHourMs = 99_000 * hour

/** The sums of each hour, newest first. An hour can have several: one for each version, and for each time it was live. */
function hoursOf(sums: readonly Sum[], at: Instant): CountedSpan[] {
  const byDayUntil = hourStart(at - byHourMs)
  const startOf = (start: Instant) => (start < byDayUntil ? dayStart(start) : hourStart(start))
  return [...Map.groupBy(sums, ({ start }) => startOf(start))]
    .map(([from, ofHour]) => ({ from, until: from + (from < byDayUntil ? day : hour), ...totalOf(ofHour) }))
    .sort((a, b) => b.from - a.from)
}
