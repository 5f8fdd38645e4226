import type { Regression, Summary, TimelineEntry } from '@promptledger/client'
import { type Mark, marksOfChanges, marksOfSteps } from './chart-clusters.ts'
import {
  type Average,
  averagesOf,
  type Bar,
  barsOf,
  joinParts,
  type Step,
  shareDomain,
  stepsOf,
} from './chart-steps.ts'
import type { TimeRange } from './time-range.ts'

/** What the chart shows. */
export interface ChartView {
  span: [number, number]
  domain: [number, number]
  steps: Step[]
  bars: Bar[]
  averages: Average[]
  marks: Mark[]
  /** The loaded changes by ID. */
  changes: Map<number, TimelineEntry>
  /** How many changes went live in the span. */
  changeCount: number
}

/** `changes` is null if there are too many to load. */
export function chartView(
  summary: Summary,
  changes: TimelineEntry[] | null,
  regressions: Regression[],
  range: TimeRange,
  now: number,
): ChartView {
  const all = stepsOf(summary, now)
  const span = visibleSpan(range, all)
  const isVisible = ({ start, end }: { start: number; end: number }) => end > span[0] && start < span[1]
  const parts = all.filter(isVisible)
  const steps = joinParts(parts, summary.interval)
  const averages = averagesOf(changes ?? [], now).filter(isVisible)
  const marks =
    changes === null
      ? marksOfSteps(
          steps,
          regressions.map(({ live_from: at, change }) => Date.parse(at ?? change.created_at)),
        )
      : marksOfChanges(changes, new Set(regressions.map(({ change }) => change.id)))
  return {
    span,
    domain: shareDomain(steps, averages),
    steps,
    bars: barsOf(parts, summary.interval),
    averages,
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
