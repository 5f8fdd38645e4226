import type { Instant } from '../time.ts'

/** A change that reached the default branch, as far as it matters for when it was live. */
export interface LandedChange {
  /** The ID of its history entry. */
  id: number
  commitSha: string
  /** The position on the default branch; null for a submitted entry. */
  seq: number | null
  createdAt: Instant
  orphanedAt: Instant | null
}

/** A change with the time at which it went live, if merging makes it live. */
export interface TimedChange extends LandedChange {
  mergedAt: Instant
}

/**
 * The changes in the order in which they went live, if merging makes them live, with the rules of `liveTimes` in
 * store/sql/history.ts: in the order of the branch, each at the latest date up to it. A date after `now` is wrong and counts
 * as that of the change before.
 */
export function timedChanges(changes: LandedChange[], now: Instant): TimedChange[] {
  let latest: Instant | null = null
  const onBranch = changes.filter(({ seq }) => seq !== null).sort((a, b) => (a.seq as number) - (b.seq as number))
  const timed = onBranch.map((change): TimedChange => {
    const { createdAt, orphanedAt } = change
    if (createdAt <= now) latest = Math.max(latest ?? 0, Math.min(createdAt, orphanedAt ?? createdAt))
    return { ...change, mergedAt: latest ?? createdAt }
  })
  const submitted = changes
    .filter(({ seq }) => seq === null)
    .map((change) => ({ ...change, mergedAt: change.createdAt }))
  return [...timed, ...submitted].sort((a, b) => a.mergedAt - b.mergedAt || (a.seq ?? 0) - (b.seq ?? 0) || a.id - b.id)
}

/** When merges ended the change: when the next one came, or when it was dropped from the default branch. */
export function mergeEnd({ orphanedAt }: LandedChange, next: TimedChange | undefined): Instant | null {
  if (next === undefined) return orphanedAt
  return orphanedAt === null ? next.mergedAt : Math.min(orphanedAt, next.mergedAt)
}
