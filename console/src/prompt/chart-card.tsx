import { Download } from 'lucide-react'
import { useId, useMemo, useRef } from 'react'
import { IsoInput } from '../ui/iso-input.tsx'
import { isLocalDate } from '../ui/iso-time.ts'
import { countOf, formatNumber } from '../ui/number.ts'
import { formatTally } from '../ui/percent.ts'
import { Time } from '../ui/time.tsx'
import { ToggleGroup } from '../ui/toggle-group.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import type { SetParams } from '../url-params.ts'
import { Chart } from './chart.tsx'
import { ChartLegend } from './chart-legend.tsx'
import type { SegmentLines } from './chart-segments.ts'
import { type ChartData, type ChartView, chartView } from './chart-view.ts'
import { maxLoadedChanges } from './prompt-queries.ts'
import { dateOf, type Preset, presets, type TimeRange, zoomParams } from './time-range.ts'
import { ZoomButtons } from './zoom-buttons.tsx'

interface ChartDownloadProps {
  title: string
  span: [number, number]
  findChart: () => SVGSVGElement | null
}

const formats = ['SVG', 'PNG'] as const

/** Saves the chart as a picture. */
function ChartDownload({ title, span, findChart }: ChartDownloadProps) {
  async function download(format: (typeof formats)[number]) {
    const chart = findChart()
    if (chart === null) return
    // Few people need it, so it is loaded when they do.
    const { downloadChart } = await import('./chart-export.ts')
    await downloadChart(chart, { title, span, format })
  }
  return (
    <span className="chart-download">
      {formats.map((format) => (
        <button
          key={format}
          type="button"
          className="text-button"
          aria-label={`Download the chart as ${format}`}
          onClick={() => download(format)}
        >
          <Download aria-hidden="true" />
          {format}
        </button>
      ))}
    </span>
  )
}

/** Draws a line for each of the largest segments. The key is `lines` in the URL. */
function SegmentChoice({ keys, shown, onChange }: { keys: string[]; shown: string | null; onChange: SetParams }) {
  if (keys.length === 0) return null
  return (
    <div className="segment-choice">
      <span className="muted small" aria-hidden="true">
        Lines by
      </span>
      <ToggleGroup
        label="Lines by segment"
        options={keys.map((key) => ({ value: key, label: key }))}
        isSelected={(key) => key === shown}
        onSelect={(key) => onChange({ lines: key === shown ? null : key })}
      />
    </div>
  )
}

/** Which line is which segment. */
function SegmentLegend({ segments: { key, lines, others, countedFrom } }: { segments: SegmentLines }) {
  return (
    <div className="segment-legend">
      <ul className="legend" aria-label={`Segments by ${key}`}>
        {lines.map(({ value, total }, i) => (
          <li key={value}>
            <svg width="26" height="8" aria-hidden="true">
              <line className={`chart-segment segment-${i + 1}`} x1="0" x2="26" y1="4" y2="4" />
            </svg>{' '}
            <span>
              {value === null ? <em>none</em> : <UntrustedText text={value} />}: {formatTally(total)} of{' '}
              {formatNumber(total.positive + total.negative)}
            </span>
          </li>
        ))}
      </ul>
      {(others > 0 || countedFrom !== null) && (
        <p className="muted small">
          {others > 0 && `${countOf(others, 'smaller segment')} without a line. `}
          {countedFrom !== null && (
            <>
              Only the newest signals are counted, since <Time at={countedFrom} as="date" />.
            </>
          )}
        </p>
      )}
    </div>
  )
}

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

/** Says what the chart cannot show yet. */
function ChartNote({ view }: { view: ChartView }) {
  const text = noteOf(view)
  return text === null ? null : <p className="chart-note muted">{text}</p>
}

function noteOf({ steps, changes, changeCount }: ChartView): string | null {
  const total = steps.reduce((sum, step) => sum + step.total, 0)
  if (total === 0) return 'No signals in this time.'
  const last = steps.findLast(({ entryId, isOpen }) => isOpen && entryId !== null)
  const impact = last === undefined ? null : (changes.get(last.entryId as number)?.impact ?? null)
  if (impact?.verdict === 'too_little_data') {
    const signals = countOf(impact.after.positive + impact.after.negative, 'signal')
    return impact.before.rate === null
      ? `${signals} so far. A verdict compares a change with the version before it.`
      : `${signals} on the live version so far; a verdict needs more.`
  }
  const hasVersion = changeCount > 0 || steps.some(({ entryId, isMixed }) => entryId !== null || isMixed)
  if (!hasVersion) return `${countOf(total, 'signal')}. A verdict needs a change to judge.`
  return changeCount > maxLoadedChanges ? 'Zoom in to see single changes and the average of each version.' : null
}

const presetOptions = (Object.keys(presets) as Preset[]).map((preset) => ({
  value: preset,
  label: presets[preset].label,
}))

function RangePresets({ range, onChange }: { range: TimeRange; onChange: SetParams }) {
  return (
    <ToggleGroup
      label="Time range"
      options={presetOptions}
      isSelected={(preset) => preset === range.preset}
      onSelect={(preset) => onChange({ range: preset === 'year' ? null : preset, from: null, to: null })}
    />
  )
}

/** The dates of a custom range. */
function RangeDates({ params, onChange }: { params: URLSearchParams; onChange: SetParams }) {
  const [from, to] = [dateOf(params.get('from')), dateOf(params.get('to'))]
  return (
    <div className="range-dates">
      <DateField label="From" value={from} onChange={(date) => onChange({ from: date })} />
      <span className="muted" aria-hidden="true">
        to
      </span>
      <DateField label="To" value={to} onChange={(date) => onChange({ to: date })} />
    </div>
  )
}

interface DateFieldProps {
  label: string
  value: string
  onChange: (date: string) => void
}

function DateField({ label, ...input }: DateFieldProps) {
  const id = useId()
  return (
    <span className="date-field">
      <label className="visually-hidden" htmlFor={id}>
        {label}
      </label>
      <IsoInput id={id} form="YYYY-MM-DD" isValid={isLocalDate} {...input} />
    </span>
  )
}
