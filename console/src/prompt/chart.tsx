import type { Summary, TimelineEntry } from '@promptledger/client'
import { type PointerEvent, useId, useMemo, useState } from 'react'
import { formatPercent } from '../ui/percent.ts'
import { describeChart } from './chart-description.ts'
import { ChartMarker, markerStripHeight } from './chart-marker.tsx'
import { bandPath, linePath } from './chart-paths.ts'
import { type Point, pointsOf, runsOf, shareDomain, visibleSpan } from './chart-points.ts'
import { ticksBetween } from './chart-ticks.ts'
import { ChartTooltip } from './chart-tooltip.tsx'
import { useElementWidth } from './element-width.ts'
import type { TimeRange } from './time-range.ts'

interface Props {
  summary: Summary
  /** The changes that went live, newest first. */
  changes: TimelineEntry[]
  range: TimeRange
  /** The change that is highlighted here and in the timeline. */
  highlighted: number | null
  onHighlight: (id: number | null) => void
  onOpen: (id: number) => void
}

const left = 44
const right = 12
const plot = { top: markerStripHeight + 8, height: 190 }
const bars = { top: 242, height: 46 }
const axisY = bars.top + bars.height
const height = axisY + 26
const minTickSpacing = 84

/** The share of positive signals over time with its confidence range, the number of signals, and when changes went live. */
export function Chart({ summary, changes, range, highlighted, onHighlight, onOpen }: Props) {
  const [frame, width] = useElementWidth<HTMLElement>()
  const [hovered, setHovered] = useState<Point | null>(null)
  const clipId = useId()
  const points = useMemo(() => pointsOf(summary), [summary])
  const [from, to] = useMemo(() => visibleSpan(range, points, changes), [range, points, changes])
  const visible = points.filter(({ start, end }) => end > from && start < to)
  const [minShare, maxShare] = shareDomain(visible)
  const maxCount = Math.max(1, ...visible.map(({ positive, negative }) => positive + negative))

  const innerWidth = Math.max(0, width - left - right)
  const x = (at: Date | number) => left + ((Number(at) - from.getTime()) / (to.getTime() - from.getTime())) * innerWidth
  const y = (share: number) => plot.top + ((maxShare - share) / (maxShare - minShare)) * plot.height
  const middleX = ({ start, end }: Point) =>
    x((Math.max(start.getTime(), from.getTime()) + Math.min(end.getTime(), to.getTime())) / 2)

  function hoverNearest(event: PointerEvent<SVGSVGElement>) {
    const pointerX = event.clientX - event.currentTarget.getBoundingClientRect().left
    const distance = (point: Point) => Math.abs(middleX(point) - pointerX)
    setHovered(
      visible.reduce<Point | null>((best, point) => (best && distance(best) <= distance(point) ? best : point), null),
    )
  }

  return (
    <figure ref={frame} className="chart" aria-label={describeChart(visible, changes, from)}>
      {width > 0 && (
        <svg
          width={width}
          height={height}
          role="presentation"
          onPointerMove={hoverNearest}
          onPointerLeave={() => {
            setHovered(null)
            onHighlight(null)
          }}
        >
          <clipPath id={clipId}>
            <rect x={left} y={0} width={innerWidth} height={height} />
          </clipPath>
          {gridShares(minShare, maxShare).map((share) => (
            <g key={share} className="chart-grid">
              <line x1={left} x2={width - right} y1={y(share)} y2={y(share)} />
              <text x={left - 8} y={y(share) + 4} textAnchor="end">
                {formatPercent(share)}
              </text>
            </g>
          ))}
          {ticksBetween(from, to, Math.max(2, Math.floor(innerWidth / minTickSpacing))).map(({ at, label }) => (
            <g key={label} className="chart-tick">
              <line x1={x(at)} x2={x(at)} y1={axisY} y2={axisY + 5} />
              <text x={Math.min(x(at), width - right - 30)} y={axisY + 19} textAnchor="middle">
                {label}
              </text>
            </g>
          ))}
          <text x={left - 8} y={bars.top + 10} textAnchor="end">
            {maxCount.toLocaleString()}
          </text>
          <g clipPath={`url(#${clipId})`}>
            {runsOf(visible).map((run) => (
              <path key={run[0]?.start.getTime()} className="chart-band" d={bandPath(run, middleX, y)} />
            ))}
            {visible.map((point) => {
              const barHeight = ((point.positive + point.negative) / maxCount) * bars.height
              return (
                <rect
                  key={point.start.getTime()}
                  className="chart-bar"
                  data-hovered={hovered === point}
                  x={x(point.start)}
                  y={axisY - barHeight}
                  width={Math.max(1, x(point.end) - x(point.start) - 1)}
                  height={barHeight}
                />
              )
            })}
            {changes.map(({ entry, impact }) => {
              if (impact === null || impact.after.rate === null) return null
              const end = impact.live_until === null ? to.getTime() : Date.parse(impact.live_until)
              return (
                <line
                  key={entry.id}
                  className={`chart-average ${impact.verdict}`}
                  data-highlighted={highlighted === entry.id}
                  x1={x(Date.parse(impact.live_from))}
                  x2={x(end)}
                  y1={y(impact.after.rate)}
                  y2={y(impact.after.rate)}
                />
              )
            })}
            {runsOf(visible).map((run) => (
              <path key={run[0]?.start.getTime()} className="chart-line" d={linePath(run, middleX, y)} />
            ))}
            {hovered?.share && (
              <circle className="chart-hovered-point" cx={middleX(hovered)} cy={y(hovered.share.value)} r={4} />
            )}
          </g>
          <line className="chart-axis" x1={left} x2={width - right} y1={axisY} y2={axisY} />
          {changes
            .filter(({ entry }) => Date.parse(entry.created_at) >= from.getTime())
            .map((item) => (
              <ChartMarker
                key={item.entry.id}
                item={item}
                x={x(Date.parse(item.entry.created_at))}
                bottom={axisY}
                isHighlighted={highlighted === item.entry.id}
                onHighlight={onHighlight}
                onOpen={onOpen}
              />
            ))}
        </svg>
      )}
      {hovered !== null && <ChartTooltip point={hovered} x={middleX(hovered)} chartWidth={width} />}
    </figure>
  )
}

/** A grid line every 10%, or every 20% on a tall axis. */
function gridShares(min: number, max: number): number[] {
  const step = max - min > 0.55 ? 2 : 1
  const shares = []
  for (let tenth = Math.ceil(min * 10 - 1e-9); tenth <= max * 10 + 1e-9; tenth += step) shares.push(tenth / 10)
  return shares
}
