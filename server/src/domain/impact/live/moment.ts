import type { LineSegment, Place } from '../../deployments/live-line.ts'
import type { LandedChange } from '../../history/change.ts'
import type { Instant } from '../../time.ts'

/** The time that a result is for: now, or a time in the past, which leaves out all later changes, deployments and signals. */
export interface Moment {
  at: Instant
  isPast: boolean
}

export function now(at: Instant): Moment {
  return { at, isPast: false }
}

export function asOf(at: Instant): Moment {
  return { at, isPast: true }
}

/** The changes as they were known then: without later ones, and with those that a later rewrite dropped. */
export function changesBy({ at, isPast }: Moment, changes: LandedChange[]): LandedChange[] {
  if (!isPast) return changes
  return changes.filter(({ createdAt }) => createdAt <= at).map((change) => ({ ...change, ...droppedBy(at, change) }))
}

export function segmentsBy({ at, isPast }: Moment, segments: LineSegment[]): LineSegment[] {
  if (!isPast) return segments
  return segments
    .filter(({ from }) => from <= at)
    .map(({ from, parts }) => ({
      from,
      parts: parts.map((part) => ({ ...part, place: part.place && { ...part.place, ...droppedBy(at, part.place) } })),
    }))
}

function droppedBy(at: Instant, { orphanedAt }: Pick<LandedChange | Place, 'orphanedAt'>): Pick<Place, 'orphanedAt'> {
  return { orphanedAt: orphanedAt !== null && orphanedAt > at ? null : orphanedAt }
}
