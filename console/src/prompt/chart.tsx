import type { Summary, TimelineEntry } from '@promptledger/client'
import { type PointerEvent, useId, useMemo, useState } from 'react'
import { actionNames } from '../ui/action.tsx'
import { formatShare } from '../ui/share.tsx'
import { formatDate, formatTime } from '../ui/time.tsx'
import { verdictNames } from '../ui/verdict.tsx'
import { readMessage } from './message.ts'
import { type Point, pointsOf, shareDomain, shownSpan } from './points.ts'
import type { Range } from './range.ts'
import { useWidth } from './size.ts'
import { ticksOf } from './ticks.ts'

interface Props {
  summary: Summary
  /** Those that went live, newest first. */
  changes: TimelineEntry[]
  range: Range
  pointed: number | null
  onPoint: (id: number | null) => void
  onOpen: (id: number) => void
}

const left = 44
const right = 12
const strip = { top: 4, height: 24 }
const plot = { top: 36, height: 190 }
const bars = { top: 242, height: 46 }
const axis = bars.top + bars.height
const height = axis + 26

/** The share of positive signals over time with its uncertainty, how many there were, and the changes. */
export function Chart({ summary, changes, range, pointed, onPoint, onOpen }: Props) {
  const [frame, width] = useWidth<HTMLElement>()
  const [near, setNear] = useState<Point | null>(null)
  const clipId = useId()
  const points = useMemo(() => pointsOf(summary), [summary])
  const [from, to] = useMemo(() => shownSpan(range, points, changes), [range, points, changes])
  const shown = points.filter(({ start, end }) => end > from && start < to)
  const [bottom, top] = shareDomain(shown)
  const most = Math.max(1, ...shown.map(({ positive, negative }) => positive + negative))

  const inner = Math.max(0, width - left - right)
  const x = (at: Date | number) => left + ((Number(at) - from.getTime()) / (to.getTime() - from.getTime())) * inner
  const y = (share: number) => plot.top + ((top - share) / (top - bottom)) * plot.height
  const middle = ({ start, end }: Point) =>
    x((Math.max(start.getTime(), from.getTime()) + Math.min(end.getTime(), to.getTime())) / 2)

  function follow(event: PointerEvent<SVGSVGElement>) {
    const at = event.clientX - event.currentTarget.getBoundingClientRect().left
    const distance = (point: Point) => Math.abs(middle(point) - at)
    setNear(
      shown.reduce<Point | null>((best, point) => (best && distance(best) <= distance(point) ? best : point), null),
    )
  }

  return (
    <figure ref={frame} className="chart" aria-label={describe(shown, changes, from)}>
      {width > 0 && (
        <svg
          width={width}
          height={height}
          role="presentation"
          onPointerMove={follow}
          onPointerLeave={() => {
            setNear(null)
            onPoint(null)
          }}
        >
          <clipPath id={clipId}>
            <rect x={left} y={0} width={inner} height={height} />
          </clipPath>
          {tenths(bottom, top).map((share) => (
            <g key={share} className="chart-grid">
              <line x1={left} x2={width - right} y1={y(share)} y2={y(share)} />
              <text x={left - 8} y={y(share) + 4} textAnchor="end">
                {formatShare(share)}
              </text>
            </g>
          ))}
          {ticksOf(from, to, Math.max(2, Math.floor(inner / 84))).map(({ at, label }) => (
            <g key={label} className="chart-tick">
              <line x1={x(at)} x2={x(at)} y1={axis} y2={axis + 5} />
              <text x={Math.min(x(at), width - right - 30)} y={axis + 19} textAnchor="middle">
                {label}
              </text>
            </g>
          ))}
          <text className="chart-note" x={left - 8} y={bars.top + 10} textAnchor="end">
            {most.toLocaleString()}
          </text>
          <g clipPath={`url(#${clipId})`}>
            {runsOf(shown).map((run) => (
              <path key={run[0]?.start.getTime()} className="chart-band" d={bandPath(run, middle, y)} />
            ))}
            {shown.map((point) => {
              const count = point.positive + point.negative
              const tall = (count / most) * bars.height
              const wide = Math.max(1, x(point.end) - x(point.start) - 1)
              return (
                <rect
                  key={point.start.getTime()}
                  className="chart-count"
                  data-near={near === point}
                  x={x(point.start)}
                  y={axis - tall}
                  width={wide}
                  height={tall}
                />
              )
            })}
            {changes.map(({ entry, impact }) => {
              if (impact === null || impact.after.rate === null) return null
              const end = impact.live_until === null ? to.getTime() : Date.parse(impact.live_until)
              return (
                <line
                  key={entry.id}
                  className={`chart-level ${impact.verdict}`}
                  data-pointed={pointed === entry.id}
                  x1={x(Date.parse(impact.live_from))}
                  x2={x(end)}
                  y1={y(impact.after.rate)}
                  y2={y(impact.after.rate)}
                />
              )
            })}
            {runsOf(shown).map((run) => (
              <path key={run[0]?.start.getTime()} className="chart-line" d={linePath(run, middle, y)} />
            ))}
            {near?.share && <circle className="chart-near" cx={middle(near)} cy={y(near.share.value)} r={4} />}
          </g>
          <line className="chart-axis" x1={left} x2={width - right} y1={axis} y2={axis} />
          {changes
            .filter(({ entry }) => Date.parse(entry.created_at) >= from.getTime())
            .map((item) => (
              <Marker
                key={item.entry.id}
                item={item}
                x={x(Date.parse(item.entry.created_at))}
                pointed={pointed === item.entry.id}
                onPoint={onPoint}
                onOpen={onOpen}
              />
            ))}
        </svg>
      )}
      {near !== null && <Reading point={near} at={middle(near)} width={width} />}
    </figure>
  )
}

interface MarkerProps {
  item: TimelineEntry
  x: number
  pointed: boolean
  onPoint: (id: number | null) => void
  onOpen: (id: number) => void
}

/** Where a change went live. For the mouse: whoever uses the keyboard finds the same in the timeline. */
function Marker({ item: { entry, impact, message }, x, pointed, onPoint, onOpen }: MarkerProps) {
  const name = readMessage(message).title ?? actionNames[entry.action]
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the timeline below has a button for each of them.
    <g
      className={`chart-marker ${impact?.verdict ?? ''}`}
      data-pointed={pointed}
      onPointerEnter={() => onPoint(entry.id)}
      onPointerLeave={() => onPoint(null)}
      onClick={() => onOpen(entry.id)}
    >
      <title>{`${name}\n${entry.user.name}, ${formatTime(new Date(entry.created_at))}`}</title>
      <line x1={x} x2={x} y1={strip.top + 16} y2={axis} />
      <rect x={x - 9} y={0} width={18} height={strip.height + 4} />
      <circle cx={x} cy={strip.top + 9} r={pointed ? 7 : 5} />
    </g>
  )
}

/** The figures under the pointer. */
function Reading({ point, at, width }: { point: Point; at: number; width: number }) {
  const { start, positive, negative, share } = point
  return (
    <div className="chart-reading" style={at > width / 2 ? { right: width - at + 14 } : { left: at + 14 }}>
      <strong>{formatDate(start)}</strong>
      {share === null ? (
        <span>No signals</span>
      ) : (
        <>
          <span>
            {formatShare(share.value)} positive
            <span className="quiet">
              {' '}
              ({formatShare(share.low)} to {formatShare(share.high)})
            </span>
          </span>
          <span className="quiet">
            {positive.toLocaleString()} of {(positive + negative).toLocaleString()}
          </span>
        </>
      )}
    </div>
  )
}

function tenths(bottom: number, top: number): number[] {
  const step = top - bottom > 0.55 ? 2 : 1
  const shares = []
  for (let tenth = Math.ceil(bottom * 10 - 1e-9); tenth <= top * 10 + 1e-9; tenth += step) shares.push(tenth / 10)
  return shares
}

/** Points in a row that have signals: where there are none, the line has a gap. */
function runsOf(points: Point[]): Point[][] {
  const runs: Point[][] = [[]]
  for (const point of points) {
    if (point.share === null) runs.push([])
    else runs.at(-1)?.push(point)
  }
  return runs.filter((run) => run.length > 0)
}

function linePath(run: Point[], x: (point: Point) => number, y: (share: number) => number): string {
  // A point by itself is a short line, or it would not be seen.
  if (run.length === 1) {
    const [only] = run as [Point]
    return `M${x(only) - 2},${y(only.share?.value ?? 0)}h4`
  }
  return `M${run.map((point) => `${x(point)},${y(point.share?.value ?? 0)}`).join('L')}`
}

function bandPath(run: Point[], x: (point: Point) => number, y: (share: number) => number): string {
  const at = (point: Point, side: 'low' | 'high') => `${x(point)},${y(point.share?.[side] ?? 0)}`
  const back = run.toReversed().map((point) => at(point, 'low'))
  return `M${[...run.map((point) => at(point, 'high')), ...back].join('L')}Z`
}

/** The chart for those who cannot see it. */
function describe(points: Point[], changes: TimelineEntry[], from: Date): string {
  const positive = points.reduce((sum, point) => sum + point.positive, 0)
  const count = points.reduce((sum, point) => sum + point.positive + point.negative, 0)
  const share = count === 0 ? '' : `, ${formatShare(positive / count)} of them positive`
  const told = changes.filter(({ impact }) => impact?.verdict === 'better' || impact?.verdict === 'worse')
  const verdicts = told.map(({ entry, impact }) => {
    return `${verdictNames[impact?.verdict ?? 'too_little_data']} since ${formatDate(new Date(entry.created_at))}`
  })
  return [
    `Signals since ${formatDate(from)}: ${count.toLocaleString()}${share}`,
    `${changes.length} changes`,
    ...verdicts,
  ].join('. ')
}
