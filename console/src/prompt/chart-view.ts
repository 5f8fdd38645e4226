import type { Regression, Summary, TimelineEntry } from '@promptledger/client'
import { type Mark, marksOfChanges, marksOfSteps } from './chart-clusters.ts'
import type { SegmentLines } from './chart-segments.ts'
import type { ShiftBand, TalliedPart } from './chart-shifts.ts'
import {
  type Average,
  averagesOf,
  type Bar,
  barsOf,
  joinParts,
  type Step,
  shareDomain,
  stepsOf,
  withoutSpecks,
} from './chart-steps.ts'
import type { TimeRange } from './time-range.ts'

/** What the chart shows. */
export interface ChartView {
  span: [number, number]
  domain: [number, number]
  steps: Step[]
  /** The steps that are drawn. */
  drawn: Step[]
  bars: Bar[]
  averages: Average[]
  shifts: ShiftBand[]
  marks: Mark[]
  /** Null unless segments are drawn. */
  segments: SegmentLines | null
  /** The loaded changes by ID. */
  changes: Map<number, TimelineEntry>
  /** How many changes went live in the span. */
  changeCount: number
}

export interface ChartData {
  summary: Summary
  /** Null if there are too many to load. */
  changes: TimelineEntry[] | null
  regressions: Regression[]
  shifts: ShiftBand[]
  /** The parts of versions before and after shifts. */
  parts: TalliedPart[]
  segments: SegmentLines | null
}

export function chartView(data: ChartData, range: TimeRange, now: number): ChartView {
  const { summary, changes, regressions, shifts, parts: lifeParts, segments } = data
  const all = stepsOf(summary, now)
  const span = visibleSpan(range, all)
  const isVisible = ({ start, end }: { start: number; end: number }) => end > span[0] && start < span[1]
  const parts = all.filter(isVisible)
  const steps = joinParts(parts, summary.interval)
  const drawn = withoutSpecks(steps, span)
  const averages = withoutSpecks(averagesOf(changes ?? [], lifeParts, now).filter(isVisible), span)
  const marks =
    changes === null
      ? marksOfSteps(
          steps,
          regressions.map(({ live_from: at, change }) => Date.parse(at ?? change.created_at)),
        )
      : marksOfChanges(changes, new Set(regressions.map(({ change }) => change.id)))
  return {
    span,
    domain: shareDomain(drawn, averages, sharesOf(segments)),
    segments,
    steps,
    drawn,
    bars: barsOf(parts, summary.interval),
    averages,
    shifts: shifts.filter(({ from, to }) => to >= span[0] && from < span[1]),
    marks: marks.filter(({ from, to }) => to >= span[0] && from < span[1]),
    changes: new Map(changes?.map((change) => [change.entry.id, change])),
    changeCount: steps.reduce((sum, step) => sum + step.changes, 0),
  }
}

/** The time on the x axis. A preset is cut to start at the first data, so a new prompt does not show eleven empty months. */
function visibleSpan({ preset, from, to }: TimeRange, steps: Step[]): [number, number] {
  const [start, end] = [from.getTime(), to.getTime()]
  if (preset === null) return [start, end]
  const first = steps.find(({ total, changes }) => total > 0 || changes > 0)?.start
  return [first === undefined ? start : Math.max(start, first), end]
}

function sharesOf(segments: SegmentLines | null): number[] {
  return (segments?.lines ?? []).flatMap(({ runs }) => runs.flat().map(({ share }) => share))
}
