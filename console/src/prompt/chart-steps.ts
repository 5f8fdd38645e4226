import type { Summary, TimelineEntry, Verdict } from '@promptledger/client'
import type { TalliedPart } from './chart-shifts.ts'
import { confidenceRange } from './confidence.ts'

const intervalMs = { hour: 3_600_000, day: 86_400_000, week: 7 * 86_400_000 }

/** Fewer signals than this say little about the share of positive ones. */
export const fewSignals = 30

interface Share {
  value: number
  low: number
  high: number
}

/** The signals of one interval, or of the part of it in which one version was live. */
export interface Step {
  start: number
  end: number
  positive: number
  total: number
  /** The share of positive signals with its confidence range; null without signals. */
  share: Share | null
  /** How many changes went live in it. */
  changes: number
  /** The version that was live; null if there was none, or several took turns. */
  entryId: number | null
  /** Several versions took turns, so the share belongs to none of them. */
  isMixed: boolean
  isFew: boolean
  /** It is not over yet. */
  isOpen: boolean
}

export function stepsOf({ data }: Summary, now: number): Step[] {
  return data.map((interval) => {
    const { positive, negative, changes = 0, versions = 0, entry_id: entryId = null } = interval
    const [start, end] = [Date.parse(interval.start), Date.parse(interval.end ?? interval.start)]
    const total = positive + negative
    return {
      start,
      end,
      positive,
      total,
      share: shareOf(positive, negative),
      changes,
      entryId,
      isMixed: versions > 1,
      isFew: total < fewSignals,
      isOpen: end > now,
    }
  })
}

export interface Bar {
  start: number
  end: number
  total: number
  /** It is not over yet, or the chart starts within it. */
  isPart: boolean
}

/** The number of signals of each whole interval. Bars of the parts of an interval could not be compared with the others. */
export function barsOf(steps: Step[], interval: Summary['interval']): Bar[] {
  const length = intervalMs[interval]
  // Weeks start on Monday, and 1970 started on a Thursday.
  const origin = interval === 'week' ? 4 * intervalMs.day : 0
  const bars = Map.groupBy(steps, ({ start }) => start - ((start - origin) % length))
  return [...bars].map(([start, parts]) => ({
    start,
    end: start + length,
    total: parts.reduce((sum, { total }) => sum + total, 0),
    isPart: parts.reduce((sum, part) => sum + part.end - part.start, 0) < length || parts.some(({ isOpen }) => isOpen),
  }))
}

/** A time in which a version was live, with the share of positive signals of all its times, or of this part of one. */
export interface Average {
  id: number
  start: number
  end: number
  share: Share
  total: number
  verdict: Verdict
  isFew: boolean
}

/** `parts` are those of versions that were live while the rate moved for another reason. One average of both rates would be wrong. */
export function averagesOf(changes: TimelineEntry[], parts: TalliedPart[], now: number): Average[] {
  return changes.flatMap(({ entry: { id }, impact }) => {
    if (impact === null) return []
    return impact.live_windows.flatMap(({ from, until }) => {
      const whole = { id, start: Date.parse(from), end: until === null ? now : Date.parse(until), ...impact.after }
      const own = parts.filter((part) => part.id === id && part.start >= whole.start && part.end <= whole.end)
      return (own.length > 0 ? own : [whole]).flatMap(({ start, end, positive, negative }) => {
        const share = shareOf(positive, negative)
        const total = positive + negative
        return share === null
          ? []
          : [{ id, start, end, share, total, verdict: impact.verdict, isFew: total < fewSignals }]
      })
    })
  })
}

function shareOf(positive: number, negative: number): Share | null {
  const range = confidenceRange({ positive, negative })
  return range && { value: positive / (positive + negative), ...range }
}

/**
 * Adds parts of less than half an interval to their neighbour of the same version. On their own, they would be peaks at both ends of
 * each version.
 */
export function joinParts(steps: Step[], interval: Summary['interval']): Step[] {
  const joined: Step[] = []
  for (const step of steps) {
    const last = joined.at(-1)
    const isSame = last !== undefined && last.end === step.start && last.entryId === step.entryId
    if (last !== undefined && isSame && step.entryId !== null && !step.isOpen && (isShort(last) || isShort(step))) {
      joined[joined.length - 1] = sumOf(last, step)
    } else joined.push(step)
  }
  return joined

  function isShort({ start, end }: Step): boolean {
    return end - start < intervalMs[interval] / 2
  }
}

function sumOf(one: Step, other: Step): Step {
  const [positive, total] = [one.positive + other.positive, one.total + other.total]
  const changes = one.changes + other.changes
  return {
    ...one,
    end: other.end,
    positive,
    total,
    changes,
    share: shareOf(positive, total - positive),
    isFew: total < fewSignals,
  }
}

/** Steps that follow each other without a gap while the same version was live. Without those of few signals, which are dashed one by one. */
export function runsOf(steps: Step[]): Step[][] {
  const runs: Step[][] = []
  let last: Step | undefined
  for (const step of steps) {
    if (step.share === null || step.isFew) continue
    if (last !== undefined && last.end === step.start && last.entryId === step.entryId && !step.isOpen)
      runs.at(-1)?.push(step)
    else runs.push([step])
    last = step
  }
  return runs
}

// About 4 px of a chart on a laptop.
const minFewShare = 1 / 200

/** Leaves out steps that are too short to see and have few signals: an hour in a chart of a year would be a dot without meaning. */
export function withoutSpecks<Part extends { start: number; end: number; isFew: boolean }>(
  parts: Part[],
  [from, to]: [number, number],
): Part[] {
  return parts.filter(
    ({ start, end, isFew }) => !isFew || Math.min(end, to) - Math.max(start, from) >= (to - from) * minFewShare,
  )
}

/** The range of the y axis in whole tenths, at least three of them. It covers everything that is drawn. */
export function shareDomain(steps: Step[], averages: Average[], others: number[]): [number, number] {
  const values = [
    ...others,
    ...steps.flatMap(({ share }) => (share === null ? [] : [share.value])),
    ...averages.flatMap(({ share }) => [share.low, share.high]),
  ]
  if (values.length === 0) return [0, 1]
  const bottom = Math.floor(Math.min(...values) * 10) / 10
  const top = Math.min(1, Math.ceil(Math.max(...values) * 10) / 10)
  return [Math.max(0, Math.min(bottom, top - 0.3)), Math.max(top, 0.3)]
}
