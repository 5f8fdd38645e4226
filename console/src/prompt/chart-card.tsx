import { useMemo, useRef } from 'react'
import type { SetParams } from '../url-params.ts'
import { Chart } from './chart.tsx'
import { ChartDownload } from './chart-download.tsx'
import { ChartLegend } from './chart-legend.tsx'
import { ChartNote } from './chart-note.tsx'
import { type ChartData, chartView } from './chart-view.ts'
import { RangeDates, RangePresets } from './range-fields.tsx'
import { SegmentChoice, SegmentLegend } from './segment-choice.tsx'
import { type TimeRange, zoomParams } from './time-range.ts'
import { ZoomButtons } from './zoom-buttons.tsx'

interface Props {
  promptName: string
  data: ChartData
  /** The keys that segments can be drawn by. */
  segmentKeys: string[]
  range: TimeRange
  now: number
  params: URLSearchParams
  setParams: SetParams
  highlighted: ReadonlySet<number>
  onHighlight: (id: number | null) => void
  onOpen: (id: number) => void
}

/** The chart with everything that changes what it shows. */
export function ChartCard(props: Props) {
  const { promptName, data, segmentKeys, range, now, params, setParams, ...rest } = props
  const card = useRef<HTMLElement>(null)
  const view = useMemo(() => chartView(data, range, now), [data, range, now])
  const zoom = useMemo(() => (from: number, to: number) => setParams(zoomParams(from, to)), [setParams])
  return (
    <section ref={card} className="card chart-card" aria-labelledby="chart-title">
      <div className="chart-head">
        <h2 id="chart-title">User feedback over time</h2>
        <RangePresets range={range} onChange={setParams} />
        <ZoomButtons
          span={view.span}
          now={now}
          isZoomed={range.preset === null && (params.get('from') ?? params.get('to')) !== null}
          onZoom={zoom}
          onReset={() => setParams({ from: null, to: null })}
        />
      </div>
      <ChartNote view={view} />
      <Chart view={view} onZoom={zoom} {...rest} />
      <div className="chart-foot">
        {view.segments !== null && <SegmentLegend segments={view.segments} />}
        <ChartLegend hasShifts={view.shifts.length > 0} />
        <div className="chart-tools">
          <SegmentChoice keys={segmentKeys} shown={view.segments?.key ?? null} onChange={setParams} />
          <RangeDates params={params} onChange={setParams} />
          <ChartDownload
            title={promptName}
            span={view.span}
            findChart={() => card.current?.querySelector<SVGSVGElement>('.chart > svg') ?? null}
          />
        </div>
      </div>
    </section>
  )
}
