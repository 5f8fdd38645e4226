import type { LineSegment } from '../../deployments/live-line.ts'
import { type LandedChange, type TimedChange, timedChanges } from '../../history/change.ts'
import type { Instant } from '../../time.ts'
import { derivedFrom } from '../cache.ts'
import { type LiveHistory, type LivePeriod, liveHistory, newestPeriods } from './live-window.ts'
import { changesBy, type Moment, segmentsBy } from './moment.ts'

/** When the changes of a prompt were live. */
export interface LivePeriods {
  /** In the order of `timedChanges`. */
  changes: TimedChange[]
  live: LiveHistory
  /** In the order in which they went live. */
  periods: LivePeriod[]
  /** The place of each change in `periods`, by the ID of its entry. */
  placeOf: Map<number, number>
}

/** The last result for a list of changes. */
interface LastKnown {
  value: { segments: WeakRef<LineSegment[]>; newest: Instant; periods: LivePeriods } | null
}

const newLastKnown = (): LastKnown => ({ value: null })

/**
 * Whether the periods take memory in proportion to the changes, by which the store bounds its lists. Thousands of deployments that alternate
 * between two versions make as many windows of two changes.
 */
function isSmall({ periods }: LivePeriods): boolean {
  let count = 0
  for (const { windows, credits } of periods) count += windows.length + credits.length
  return count <= 2 * periods.length + 200
}

export function livePeriodsOf(landed: LandedChange[], segments: LineSegment[], moment: Moment): LivePeriods {
  const last = derivedFrom(landed, newLastKnown)
  const known = moment.isPast ? null : last.value
  if (known?.segments.deref() === segments && known.newest <= moment.at) return known.periods
  const changes = timedChanges(changesBy(moment, landed), moment.at)
  const live = liveHistory(changes, segmentsBy(moment, segments))
  const ordered = newestPeriods(live).reverse()
  const placeOf = new Map(ordered.map(({ change }, place) => [change.id, place]))
  const periods = { changes, live, periods: ordered, placeOf }
  const newest = landed.reduce((latest, { createdAt }) => Math.max(latest, createdAt), 0)
  // With a change from the future, the result depends on the time.
  if (!moment.isPast && newest <= moment.at && isSmall(periods)) {
    last.value = { segments: new WeakRef(segments), newest, periods }
  }
  return periods
}
