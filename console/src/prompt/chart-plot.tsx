import { memo } from 'react'
import { formatCompact } from '../ui/number.ts'
import { formatPercent } from '../ui/percent.ts'
import { type ChartLayout, type ChartScale, gridShares } from './chart-scale.ts'
import type { SegmentStep } from './chart-segments.ts'
import type { ShiftBand } from './chart-shifts.ts'
import { type Average, runsOf, type Step } from './chart-steps.ts'
import { ticksBetween } from './chart-ticks.ts'
import type { ChartView } from './chart-view.ts'

interface ChartShiftBandsProps {
  shifts: ShiftBand[]
  layout: ChartLayout
  scale: ChartScale
}

const minWidthPx = 4
// Of the labels, which are bold and 11.5 px high.
const characterPx = 6.8
const rowPx = 14

/** Bands where the rate moved for another reason than a change. A label that would cover another one is left to the tooltip. */
function ChartShifts({ shifts, layout: { left, right, plot }, scale: { x } }: ChartShiftBandsProps) {
  let free = left
  return shifts.map(({ at, from, to, label }) => {
    const width = Math.max(minWidthPx, x(to) - x(from))
    const start = (x(from) + x(to) - width) / 2
    const textWidth = label.length * characterPx
    const textStart = Math.min(Math.max(left + 4, start + width / 2 - textWidth / 2), right - textWidth)
    const isFree = textStart >= free && textStart >= left
    if (isFree) free = textStart + textWidth + 8
    return (
      <g key={at} className="chart-shift">
        <rect x={start} y={plot.top} width={width} height={plot.bottom - plot.top} />
        {isFree && (
          <text x={textStart} y={plot.bottom - rowPx / 2 + 2}>
            {label}
          </text>
        )}
      </g>
    )
  })
}

interface Props {
  view: ChartView
  layout: ChartLayout
  scale: ChartScale
  highlighted: ReadonlySet<number>
}

const minTickSpacing = 84

/** Everything that does not follow the pointer. */
export const ChartPlot = memo(function ChartPlot({ view, layout, scale, highlighted }: Props) {
  const { x, y } = scale
  const { left, right, bars } = layout
  const maxCount = Math.max(1, ...view.bars.map(({ total }) => total))
  const [from, to] = view.span
  const ticks = ticksBetween(new Date(from), new Date(to), Math.max(2, Math.floor((right - left) / minTickSpacing)))
  const few = view.drawn.filter(({ share, isFew }) => share !== null && isFew)
  return (
    <>
      {gridShares(view.domain).map((share) => (
        <g key={share} className="chart-grid">
          <line x1={left} x2={right} y1={y(share)} y2={y(share)} />
          <text x={left - 8} y={y(share) + 4} textAnchor="end">
            {formatPercent(share)}
          </text>
        </g>
      ))}
      {ticks.map(({ at, label }) => (
        <g key={at.getTime()} className="chart-tick">
          <line x1={x(at.getTime())} x2={x(at.getTime())} y1={bars.bottom} y2={bars.bottom + 5} />
          <text x={Math.min(x(at.getTime()), right - 26)} y={bars.bottom + 18} textAnchor="middle">
            {label}
          </text>
        </g>
      ))}
      <text x={left - 8} y={bars.top + 10} textAnchor="end">
        {formatCompact(maxCount)}
      </text>
      <text x={left - 8} y={bars.top + 22} textAnchor="end">
        {maxCount === 1 ? 'vote' : 'votes'}
      </text>
      {view.bars.map(({ start, end, total, isPart }) => {
        const height = (total / maxCount) * (bars.bottom - bars.top)
        const [x1, x2] = [x(start), x(end)]
        return (
          <rect
            key={start}
            className={isPart ? 'chart-bar part' : 'chart-bar'}
            x={x1}
            y={bars.bottom - height}
            width={Math.max(1, x2 - x1 - (x2 - x1 > 3 ? 1 : 0))}
            height={height}
          />
        )
      })}
      <ChartShifts shifts={view.shifts} layout={layout} scale={scale} />
      {view.averages.map((average) => (
        <VersionRange
          key={`${average.id} ${average.start}`}
          average={average}
          scale={scale}
          highlighted={highlighted}
        />
      ))}
      {few.length > 0 && <path className="chart-line few" d={few.map((step) => dash(step, scale)).join('')} />}
      {runsOf(view.drawn).map((run) => (
        <path
          key={run[0]?.start}
          className={run[0]?.isOpen ? 'chart-line open' : 'chart-line'}
          d={stepPath(run, scale)}
        />
      ))}
      {view.averages.map(({ id, start, end, share, verdict, isFew }) => (
        <line
          key={`${id} ${start}`}
          className={`chart-average ${verdict} ${isFew ? 'few' : ''}`}
          data-highlighted={highlighted.has(id)}
          x1={x(start)}
          x2={Math.max(x(end), x(start) + 2)}
          y1={y(share.value)}
          y2={y(share.value)}
        />
      ))}
      {view.segments?.lines.map(({ value, runs }, i) => (
        <path
          key={value}
          className={`chart-segment segment-${i + 1}`}
          d={runs.map((run) => segmentPath(run, scale)).join('')}
        />
      ))}
      <line className="chart-axis" x1={left} x2={right} y1={bars.bottom} y2={bars.bottom} />
    </>
  )
})

interface RangeProps {
  average: Average
  scale: ChartScale
  highlighted: ReadonlySet<number>
}

/** The 95% confidence range of a version's average. */
function VersionRange({ average: { id, start, end, share, verdict }, scale: { x, y }, highlighted }: RangeProps) {
  return (
    <rect
      className={`chart-band ${verdict}`}
      data-highlighted={highlighted.has(id)}
      x={x(start)}
      y={y(share.high)}
      width={Math.max(1, x(end) - x(start))}
      height={Math.max(1, y(share.low) - y(share.high))}
    />
  )
}

/** A horizontal line for each step, and a vertical one to the next. */
function stepPath(run: Step[], scale: ChartScale): string {
  return segmentPath(
    run.map(({ start, end, share }) => ({ start, end, share: share?.value ?? 0 })),
    scale,
  )
}

function segmentPath(run: SegmentStep[], { x, y }: ChartScale): string {
  return run.map(({ start, end, share }, i) => `${i === 0 ? 'M' : 'L'}${x(start)},${y(share)}H${x(end)}`).join('')
}

function dash({ start, end, share }: Step, { x, y }: ChartScale): string {
  return `M${x(start)},${y(share?.value ?? 0)}H${x(end)}`
}
