import type { Summary, TimelineEntry } from '@promptledger/client'
import { confidenceRange } from './confidence.ts'
import type { TimeRange } from './time-range.ts'

const intervalMs = { hour: 3_600_000, day: 86_400_000, week: 7 * 86_400_000 }

/** The signals of one interval. */
export interface Point {
  start: Date
  end: Date
  positive: number
  negative: number
  /** The share of positive signals with its confidence range; null without signals. */
  share: { value: number; low: number; high: number } | null
}

export function pointsOf({ data, interval }: Summary): Point[] {
  return data.map(({ start, positive, negative }) => {
    const confidence = confidenceRange({ positive, negative })
    return {
      start: new Date(start),
      end: new Date(Date.parse(start) + intervalMs[interval]),
      positive,
      negative,
      share: confidence && { value: positive / (positive + negative), ...confidence },
    }
  })
}

/** The time on the x axis. A preset is cut to start at the first data, so a new prompt does not show eleven empty months. */
export function visibleSpan({ preset, from, to }: TimeRange, points: Point[], changes: TimelineEntry[]): [Date, Date] {
  if (preset === null) return [from, to]
  const firstPoint = points.find(({ share }) => share !== null)?.start.getTime() ?? Number.POSITIVE_INFINITY
  const firstChange = Math.min(...changes.map(({ entry }) => Date.parse(entry.created_at)))
  const first = Math.min(firstPoint, firstChange)
  const margin = (to.getTime() - first) * 0.02
  return [new Date(Number.isFinite(first) ? Math.max(from.getTime(), first - margin) : from.getTime()), to]
}

/** The range of the y axis in whole tenths, at least three of them. */
export function shareDomain(points: Point[]): [number, number] {
  const shares = points.flatMap(({ share }) => (share === null ? [] : [share]))
  if (shares.length === 0) return [0, 1]
  // Ignore the most extreme 10% of the confidence limits: a few days with hardly any signals would flatten the line.
  const lows = shares.map(({ low }) => low).sort((a, b) => a - b)
  const highs = shares.map(({ high }) => high).sort((a, b) => a - b)
  const values = shares.map(({ value }) => value)
  const low = Math.min(lows[Math.floor(lows.length * 0.1)] as number, ...values)
  const high = Math.max(highs[Math.ceil(highs.length * 0.9) - 1] as number, ...values)
  const bottom = Math.floor(low * 10) / 10
  const top = Math.min(1, Math.ceil(high * 10) / 10)
  return [Math.max(0, Math.min(bottom, top - 0.3)), Math.max(top, 0.3)]
}

/** Splits the points into runs without gaps. The line is interrupted where there are no signals. */
export function runsOf(points: Point[]): Point[][] {
  const runs: Point[][] = [[]]
  for (const point of points) {
    if (point.share === null) runs.push([])
    else runs.at(-1)?.push(point)
  }
  return runs.filter((run) => run.length > 0)
}
