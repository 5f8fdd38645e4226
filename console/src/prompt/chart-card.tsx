import type { Regression, Summary, TimelineEntry } from '@promptledger/client'
import { useMemo, useRef } from 'react'
import type { SetParams } from '../url-params.ts'
import { Chart } from './chart.tsx'
import { ChartDownload } from './chart-download.tsx'
import { ChartLegend } from './chart-legend.tsx'
import { ChartNote } from './chart-note.tsx'
import { chartView } from './chart-view.ts'
import { RangeDates, RangePresets } from './range-fields.tsx'
import { type TimeRange, zoomParams } from './time-range.ts'
import { ZoomButtons } from './zoom-buttons.tsx'

interface Props {
  promptName: string
  summary: Summary
  /** Null if there are too many to load, or while they load. */
  changes: TimelineEntry[] | null
  regressions: Regression[]
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
  const { promptName, summary, changes, regressions, range, now, params, setParams, ...rest } = props
  const card = useRef<HTMLElement>(null)
  const view = useMemo(
    () => chartView(summary, changes, regressions, range, now),
    [summary, changes, regressions, range, now],
  )
  const zoom = useMemo(() => (from: number, to: number) => setParams(zoomParams(from, to)), [setParams])
  return (
    <section ref={card} className="card chart-card" aria-labelledby="chart-title">
      <div className="chart-head">
        <h2 id="chart-title">User feedback over time</h2>
        <RangePresets range={range} onChange={setParams} />
        <ZoomButtons
          span={view.span}
          now={now}
          isZoomed={range.preset === null}
          onZoom={zoom}
          onReset={() => setParams({ from: null, to: null })}
        />
      </div>
      <ChartNote view={view} />
      <Chart view={view} onZoom={zoom} {...rest} />
      <div className="chart-foot">
        <ChartLegend />
        <div className="chart-tools">
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
