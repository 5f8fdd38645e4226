import type { TimelineEntry } from '@promptledger/client'
import { type PointerEvent, useCallback, useEffect, useMemo, useState } from 'react'
import { type Cluster, clustersOf } from './chart-clusters.ts'
import { describeChart } from './chart-description.ts'
import { pointerX, useDrag } from './chart-drag.ts'
import { ChartMarkers } from './chart-markers.tsx'
import { ChartPlot } from './chart-plot.tsx'
import { layoutOf, scaleOf } from './chart-scale.ts'
import { ChartTooltip, type Pointed } from './chart-tooltip.tsx'
import type { ChartView } from './chart-view.ts'
import { useElementWidth } from './element-width.ts'
import { minZoomMs } from './time-range.ts'

interface Props {
  view: ChartView
  /** The change under the pointer, here or in the history, and the selected one. */
  highlighted: ReadonlySet<number>
  onHighlight: (id: number | null) => void
  onOpen: (id: number) => void
  onZoom: (from: number, to: number) => void
}

/** The share of positive signals of each version and over time, the number of signals, and when changes went live. */
export function Chart({ view, highlighted, onHighlight, onOpen, onZoom }: Props) {
  const [frame, width] = useElementWidth<HTMLElement>()
  const [pointed, setPointed] = useState<Pointed | null>(null)
  const layout = useMemo(() => layoutOf(width), [width])
  const scale = useMemo(() => scaleOf(layout, view.span, view.domain), [layout, view])
  const clusters = useMemo(() => clustersOf(view.marks, scale.x), [view, scale])
  const drag = useDrag((fromX, toX) => onZoom(scale.timeAt(fromX), scale.timeAt(toX)))

  const point = useCallback(
    (cluster: Cluster | null) => {
      setPointed((current) => current && { ...current, cluster })
      onHighlight(cluster?.change?.entry.id ?? null)
    },
    [onHighlight],
  )
  const select = useCallback(
    (cluster: Cluster) => {
      const [from, to] = zoomTo(cluster, view.span)
      const only = cluster.change ?? (from === view.span[0] ? newestIn(cluster, view) : null)
      setPointed(null)
      if (only !== null) onOpen(only.entry.id)
      else onZoom(from, to)
    },
    [view, onOpen, onZoom],
  )

  function move(event: PointerEvent<SVGSVGElement>) {
    drag.move(event)
    const x = pointerX(event)
    const at = scale.timeAt(x)
    const step = view.steps.find(({ start, end }) => start <= at && at < end) ?? null
    // A band may be a few pixels wide.
    const [near, far] = [scale.timeAt(x - 4), scale.timeAt(x + 4)]
    const shift = view.shifts.find(({ from, to }) => from <= far && near <= to) ?? null
    const y = event.clientY - event.currentTarget.getBoundingClientRect().top
    setPointed((current) => ({ x, y, step, shift, cluster: current?.cluster ?? null }))
  }

  const isPointed = pointed !== null
  useEffect(() => {
    if (!isPointed) return
    const clear = ({ target }: Event) => {
      if (!frame.current?.contains(target as Node)) setPointed(null)
    }
    document.addEventListener('pointerdown', clear)
    return () => document.removeEventListener('pointerdown', clear)
  }, [isPointed, frame])

  const liveId = pointed?.cluster ? pointed.cluster.change?.entry.id : pointed?.step?.entryId
  return (
    <figure ref={frame} className="chart" aria-label={describeChart(view)}>
      {width > 0 && (
        <svg
          width={width}
          height={layout.height}
          viewBox={`0 0 ${width} ${layout.height}`}
          role="presentation"
          onPointerDown={(event) => {
            drag.start(event)
            move(event)
          }}
          onPointerMove={move}
          onPointerUp={drag.end}
          onPointerCancel={drag.cancel}
          onPointerLeave={({ pointerType }) => {
            // A finger leaves as soon as it lifts. What it tapped stays until it taps elsewhere.
            if (pointerType === 'touch') return
            setPointed(null)
            onHighlight(null)
          }}
        >
          <ChartPlot view={view} layout={layout} scale={scale} highlighted={highlighted} />
          {pointed !== null && pointed.cluster === null && (
            <line
              className="chart-pointer"
              x1={pointed.x}
              x2={pointed.x}
              y1={layout.plot.top}
              y2={layout.bars.bottom}
            />
          )}
          {drag.selection !== null && (
            <rect
              className="chart-selection"
              x={drag.selection[0]}
              y={layout.plot.top}
              width={drag.selection[1] - drag.selection[0]}
              height={layout.bars.bottom - layout.plot.top}
            />
          )}
          <ChartMarkers
            clusters={clusters}
            bottom={layout.bars.bottom}
            highlighted={highlighted}
            onPoint={point}
            onSelect={select}
          />
        </svg>
      )}
      {pointed !== null && (pointed.step !== null || pointed.cluster !== null) && (
        <ChartTooltip
          pointed={pointed}
          change={liveId == null ? null : (view.changes.get(liveId) ?? null)}
          size={layout}
        />
      )}
    </figure>
  )
}

/** The time of a cluster with a margin, less than what is shown. The whole time if it cannot be shorter. */
function zoomTo({ from, to }: Cluster, [start, end]: [number, number]): [number, number] {
  const length = Math.min(Math.max(minZoomMs, (to - from) * 1.2), (end - start) * 0.7)
  if (length < minZoomMs) return [start, end]
  const middle = (from + to) / 2
  return [middle - length / 2, middle + length / 2]
}

/** Changes of the same hour cannot be told apart by zooming. The history below lists them. */
function newestIn({ from, to }: Cluster, { changes }: ChartView): TimelineEntry | null {
  const isIn = ({ impact }: TimelineEntry) => {
    const at = Date.parse(impact?.live_from ?? '')
    return at >= from && at <= to
  }
  return [...changes.values()].find(isIn) ?? null
}
