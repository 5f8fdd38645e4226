import type { TimelineEntry } from '@promptledger/client'
import { type PointerEvent, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { mediumDate } from '../ui/locale.ts'
import { countOf, formatNumber } from '../ui/number.ts'
import { formatPercent, formatShares } from '../ui/percent.ts'
import { verdictLabels } from '../ui/verdict.tsx'
import { type Cluster, clustersOf } from './chart-clusters.ts'
import { ChartMarkers } from './chart-markers.tsx'
import { ChartPlot } from './chart-plot.tsx'
import { layoutOf, scaleOf } from './chart-scale.ts'
import { ChartTooltip, type Pointed } from './chart-tooltip.tsx'
import type { ChartView } from './chart-view.ts'
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

/** A ref for an element, and its current width in pixels. */
function useElementWidth<Kind extends HTMLElement>() {
  const element = useRef<Kind>(null)
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const { current } = element
    if (current === null) return
    setWidth(current.clientWidth)
    const observer = new ResizeObserver(() => setWidth(current.clientWidth))
    observer.observe(current)
    return () => observer.disconnect()
  }, [])
  return [element, width] as const
}

/** The chart in words, for screen readers. */
function describeChart({ steps, changes, changeCount, shifts, span }: ChartView): string {
  const positive = steps.reduce((sum, step) => sum + step.positive, 0)
  const total = steps.reduce((sum, step) => sum + step.total, 0)
  const share = total === 0 ? '' : `, ${formatPercent(positive / total)} positive`
  const verdicts = [...changes.values()].flatMap(({ impact }) => {
    if (impact?.verdict !== 'better' && impact?.verdict !== 'worse') return []
    return [`${verdictLabels[impact.verdict]} since ${mediumDate(new Date(impact.live_from))}`]
  })
  return [
    `${formatNumber(total)} signals, ${mediumDate(new Date(span[0]))} to ${mediumDate(new Date(span[1]))}${share}`,
    countOf(changeCount, 'change'),
    ...verdicts,
    ...shifts.map(({ label, rates }) => `${capitalised(label)}: ${formatShares(...rates)}`),
  ].join('. ')
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

const minDragPx = 6

/** Selecting a part of the chart with a mouse or pen. A finger scrolls the page: on a touch screen, buttons zoom. */
function useDrag(onSelect: (fromX: number, toX: number) => void) {
  const [drag, setDrag] = useState<{ startX: number; x: number } | null>(null)
  const isDragging = drag !== null
  useEffect(() => {
    if (!isDragging) return
    const cancel = (event: KeyboardEvent) => {
      if (event.key === 'Escape') setDrag(null)
    }
    window.addEventListener('keydown', cancel)
    return () => window.removeEventListener('keydown', cancel)
  }, [isDragging])
  const selection = drag && ([Math.min(drag.startX, drag.x), Math.max(drag.startX, drag.x)] as const)
  return {
    selection: selection && selection[1] - selection[0] >= minDragPx ? selection : null,
    start(event: PointerEvent<SVGSVGElement>) {
      const isOnMarker = (event.target as Element).closest('.chart-marker') !== null
      if (event.button !== 0 || event.pointerType === 'touch' || isOnMarker) return
      event.preventDefault()
      event.currentTarget.setPointerCapture(event.pointerId)
      const x = pointerX(event)
      setDrag({ startX: x, x })
    },
    move(event: PointerEvent<SVGSVGElement>) {
      const x = pointerX(event)
      setDrag((current) => current && { ...current, x })
    },
    end() {
      if (selection !== null && selection[1] - selection[0] >= minDragPx) onSelect(...selection)
      setDrag(null)
    },
    cancel: () => setDrag(null),
  }
}

function pointerX(event: PointerEvent<SVGSVGElement>): number {
  return event.clientX - event.currentTarget.getBoundingClientRect().left
}
