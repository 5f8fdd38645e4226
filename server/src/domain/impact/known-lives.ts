import type { LineSegment } from '../deployments/live-line.ts'
import { type LandedChange, type TimedChange, timedChanges } from '../history/change.ts'
import { type Life, type LiveHistory, liveHistory, newestLives } from './live-window.ts'
import { changesBy, type Moment, segmentsBy } from './moment.ts'

/** When the changes of a prompt were live. */
export interface KnownLives {
  /** In the order of `timedChanges`. */
  changes: TimedChange[]
  live: LiveHistory
  /** In the order in which they went live. */
  lives: Life[]
  /** The place of each change in `lives`, by the ID of its entry. */
  placeOf: Map<number, number>
}

/**
 * The last result for each list of changes. The store returns the same lists until something changes, so that nothing has to be
 * invalidated here.
 */
const remembered = new WeakMap<LandedChange[], { segments: LineSegment[]; lives: KnownLives }>()

export function knownLives(landed: LandedChange[], segments: LineSegment[], moment: Moment): KnownLives {
  // With a change from the future, the result depends on the time.
  const isSettled = !moment.isPast && landed.every(({ createdAt }) => createdAt <= moment.at)
  const last = isSettled ? remembered.get(landed) : undefined
  if (last !== undefined && last.segments === segments) return last.lives
  const changes = timedChanges(changesBy(moment, landed), moment.at)
  const live = liveHistory(changes, segmentsBy(moment, segments))
  const ordered = newestLives(live).reverse()
  const placeOf = new Map(ordered.map(({ change }, place) => [change.id, place]))
  const lives = { changes, live, lives: ordered, placeOf }
  if (isSettled) remembered.set(landed, { segments, lives })
  return lives
}
