import type { Summary, TimelineEntry } from '@promptledger/client'
import { confidenceOf } from './confidence.ts'
import type { Range } from './range.ts'

const lengths = { hour: 3_600_000, day: 86_400_000, week: 7 * 86_400_000 }

/** The signals of an interval. */
export interface Point {
  start: Date
  end: Date
  positive: number
  negative: number
  /** Null where there are none. */
  share: { value: number; low: number; high: number } | null
}

export function pointsOf({ data, interval }: Summary): Point[] {
  return data.map(({ start, positive, negative }) => {
    const confidence = confidenceOf({ positive, negative })
    return {
      start: new Date(start),
      end: new Date(Date.parse(start) + lengths[interval]),
      positive,
      negative,
      share: confidence && { value: positive / (positive + negative), ...confidence },
    }
  })
}

/** The span that has something to show: a prompt that is a month old need not have eleven empty ones before it. */
export function shownSpan({ name, from, to }: Range, points: Point[], changes: TimelineEntry[]): [Date, Date] {
  if (name === null) return [from, to]
  const firstPoint = points.find(({ share }) => share !== null)?.start.getTime() ?? Number.POSITIVE_INFINITY
  const firstChange = Math.min(...changes.map(({ entry }) => Date.parse(entry.created_at)))
  const first = Math.min(firstPoint, firstChange)
  const room = (to.getTime() - first) * 0.02
  return [new Date(Number.isFinite(first) ? Math.max(from.getTime(), first - room) : from.getTime()), to]
}

/** The shares that the chart's height stands for, in whole tenths, never less than three of them. */
export function shareDomain(points: Point[]): [number, number] {
  const shares = points.flatMap(({ share }) => (share === null ? [] : [share]))
  if (shares.length === 0) return [0, 1]
  // A few days with hardly any votes would otherwise press all others flat.
  const lows = shares.map(({ low }) => low).sort((a, b) => a - b)
  const highs = shares.map(({ high }) => high).sort((a, b) => a - b)
  const values = shares.map(({ value }) => value)
  const low = Math.min(lows[Math.floor(lows.length * 0.1)] as number, ...values)
  const high = Math.max(highs[Math.ceil(highs.length * 0.9) - 1] as number, ...values)
  const bottom = Math.floor(low * 10) / 10
  const top = Math.min(1, Math.ceil(high * 10) / 10)
  return [Math.max(0, Math.min(bottom, top - 0.3)), Math.max(top, 0.3)]
}
