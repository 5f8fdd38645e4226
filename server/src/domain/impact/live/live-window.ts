import type { LineSegment, LivePart, Place } from '../../deployments/live-line.ts'
import { mergeEnd, type TimedChange } from '../../history/change.ts'
import { countWhile } from '../../sorted.ts'
import type { Instant } from '../../time.ts'

export const liveSources = ['deployment', 'merge'] as const

/** How it is known that a change was live. */
export type LiveSource = (typeof liveSources)[number]

/** A time in which a change was live. */
export interface LiveWindow {
  from: Instant
  /** Null while it is still live. */
  until: Instant | null
  /** The part of the traffic that it served. */
  share: number
  source: LiveSource
  /** Null for a merge. */
  environment: string | null
}

/** A time in which signals without a version are credited to a change. */
export interface Credit {
  from: Instant
  until: Instant | null
  /** Another version was live too, with a smaller share. */
  shared: boolean
  source: LiveSource
}

/** When a change was live. It can be more than once: after a rollback, and at the same time as another one. */
export interface LivePeriod {
  change: TimedChange
  windows: LiveWindow[]
  credits: Credit[]
  /** The change that was live before. */
  earlier: TimedChange | null
}

/** A change that is live at some moment. */
export interface LivePartOfChange {
  change: TimedChange
  share: number
  source: LiveSource
  environment: string | null
}

export interface LiveHistory {
  /** By the ID of the entry. A change that never went live is absent. */
  periods: Map<number, LivePeriod>
  /** The changes that were live at an instant, the largest share first. */
  at(instant: Instant): LivePartOfChange[]
  /** The version of the prompt in a commit; null if it did not exist yet. */
  versionIn(place: Place): TimedChange | null
}

/**
 * When each change was live: by the deployments to production from the first of them on, and by the merges before.
 * `changes` are in the order of `timedChanges`.
 */
export function liveHistory(changes: TimedChange[], segments: LineSegment[]): LiveHistory {
  const versionIn = versionFinder(changes)
  const periods = new Map<number, LivePeriod>()
  const firstDeployed = segments[0]?.from ?? Number.POSITIVE_INFINITY
  const periodOf = (change: TimedChange, earlier: TimedChange | null): LivePeriod => {
    const period = periods.get(change.id) ?? { change, windows: [], credits: [], earlier }
    periods.set(change.id, period)
    return period
  }

  let lastWinner: TimedChange | null = null
  for (const [i, change] of changes.entries()) {
    const { mergedAt: from } = change
    if (from >= firstDeployed) break
    const end = mergeEnd(change, changes[i + 1])
    const until = firstDeployed === Number.POSITIVE_INFINITY ? end : Math.min(end ?? firstDeployed, firstDeployed)
    periods.set(change.id, {
      change,
      windows: [{ from, until, share: 1, source: 'merge', environment: null }],
      credits: [{ from, until, shared: false, source: 'merge' }],
      earlier: changes[i - 1] ?? null,
    })
    lastWinner = change
  }

  const mergedBy = (at: Instant): TimedChange | null => {
    const index = changes.findLastIndex(({ mergedAt }) => mergedAt <= at)
    const change = changes[index]
    if (change === undefined) return null
    const end = mergeEnd(change, changes[index + 1])
    return end !== null && end <= at ? null : change
  }
  const changesOf = (parts: LivePart[]): LivePartOfChange[] => {
    const [only] = parts
    if (parts.length === 1 && only !== undefined && only.place !== null) {
      const change = versionIn(only.place)
      const { share, environment } = only
      return change === null ? [] : [{ change, share, source: 'deployment', environment }]
    }
    const live = new Map<number, LivePartOfChange>()
    for (const { place, mergedBy: at, share, environment } of parts) {
      const change = place === null ? mergedBy(at as Instant) : versionIn(place)
      if (change === null) continue
      const known = live.get(change.id)
      if (known === undefined) live.set(change.id, { change, share, source: 'deployment', environment })
      else known.share += share
    }
    return [...live.values()].sort((a, b) => b.share - a.share || newestFirst(a.change, b.change))
  }
  for (const [i, { from, parts }] of segments.entries()) {
    const until = segments[i + 1]?.from ?? null
    const live = changesOf(parts)
    for (const { change, share, environment } of live) {
      addWindow(periodOf(change, lastWinner).windows, { from, until, share, source: 'deployment', environment })
    }
    const [winner] = live
    if (winner === undefined) continue
    addCredit((periods.get(winner.change.id) as LivePeriod).credits, {
      from,
      until,
      shared: live.length > 1,
      source: 'deployment',
    })
    lastWinner = winner.change
  }

  return {
    periods,
    versionIn,
    at(instant) {
      if (instant >= firstDeployed) {
        return changesOf(segments.findLast(({ from }) => from <= instant)?.parts ?? [])
      }
      const change = mergedBy(instant)
      return change === null ? [] : [{ change, share: 1, source: 'merge', environment: null }]
    },
  }
}

/** The periods in the order of the timeline: the last to go live first. */
export function newestPeriods({ periods }: LiveHistory): LivePeriod[] {
  return [...periods.values()].sort((a, b) => liveFrom(b) - liveFrom(a) || newestFirst(a.change, b.change))
}

/** When the change was live that was live before this one. */
export function earlierPeriod({ periods }: LiveHistory, { earlier }: LivePeriod): LivePeriod | undefined {
  return earlier === null ? undefined : periods.get(earlier.id)
}

export function liveFrom({ windows }: LivePeriod): Instant {
  return (windows[0] as LiveWindow).from
}

/** Null while it is live. */
export function liveUntil({ windows }: LivePeriod): Instant | null {
  return (windows.at(-1) as LiveWindow).until
}

function newestFirst(a: TimedChange, b: TimedChange): number {
  return (b.seq ?? 0) - (a.seq ?? 0) || b.id - a.id
}

function addWindow(windows: LiveWindow[], window: LiveWindow): void {
  const last = windows.at(-1)
  const continues =
    last?.until === window.from &&
    last.source === window.source &&
    last.share === window.share &&
    last.environment === window.environment
  if (last !== undefined && continues) last.until = window.until
  else windows.push(window)
}

function addCredit(credits: Credit[], credit: Credit): void {
  const last = credits.at(-1)
  const continues = last?.until === credit.from && last.shared === credit.shared && last.source === credit.source
  if (last !== undefined && continues) last.until = credit.until
  else credits.push(credit)
}

/** Finds the newest change at or before a commit on the line as it was when the commit was on it. */
function versionFinder(changes: TimedChange[]): (place: Place) => TimedChange | null {
  // Most prompts are read without asking for a commit.
  let known: VersionIndex | null = null
  return ({ sha, seq, orphanedAt }) => {
    known ??= versionIndex(changes)
    const { bySha, onBranch } = known
    const exact = bySha.get(sha)
    if (exact !== undefined || seq === null) return exact ?? null
    const count = countWhile(onBranch, (change) => (change.seq as number) <= seq)
    for (let i = count - 1; i >= 0; i--) {
      const change = onBranch[i] as TimedChange
      // Of the commits that a rewrite dropped, those count that were dropped with this one or later.
      if (change.orphanedAt === null || (orphanedAt !== null && change.orphanedAt >= orphanedAt)) return change
    }
    return null
  }
}

interface VersionIndex {
  bySha: Map<string, TimedChange>
  /** In the order of `seq`. */
  onBranch: TimedChange[]
}

function versionIndex(changes: TimedChange[]): VersionIndex {
  const bySha = new Map<string, TimedChange>()
  for (const change of changes) {
    const known = bySha.get(change.commitSha)
    // Prefer a change that is still on the branch.
    if (known === undefined || known.orphanedAt !== null || change.orphanedAt === null)
      bySha.set(change.commitSha, change)
  }
  const onBranch = changes.filter(({ seq }) => seq !== null).sort((a, b) => (a.seq as number) - (b.seq as number))
  return { bySha, onBranch }
}
