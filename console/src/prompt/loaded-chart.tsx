import { useMemo, useState } from 'react'
import { LoadError } from '../ui/load-error.tsx'
import { Loading } from '../ui/loading.tsx'
import { type SetParams, useUrlParams } from '../url-params.ts'
import { ChartCard } from './chart-card.tsx'
import { type LoadedChartData, useChartData } from './chart-data.ts'
import { rangeAround, rangeFrom, type TimeRange } from './time-range.ts'

/** The chart of a prompt: the time in the URL, what it draws there, and what is highlighted in it. */
export interface ChartState {
  range: TimeRange
  now: Date
  params: URLSearchParams
  setParams: SetParams
  chart: LoadedChartData
  /** The entry that the pointer or the focus is on. */
  highlighted: number | null
  onHighlight: (id: number | null) => void
  /** The same, and the selected entry. */
  shown: ReadonlySet<number>
}

/** `selected` is the entry that stays highlighted. Without a time in the URL, the chart shows that around `around`, if given. */
export function useChart(promptId: string, selected: number | null, around: string | null = null): ChartState {
  const [params, setParams] = useUrlParams()
  // A range that ends "now" keeps its end while the page is open. If it moved, every render would reload everything.
  const [now] = useState(() => new Date())
  const [from, to, preset] = [params.get('from'), params.get('to'), params.get('range')]
  // biome-ignore lint/correctness/useExhaustiveDependencies: other parameters do not change the range.
  const range = useMemo(() => {
    const isChosen = (from ?? to ?? preset) !== null
    return isChosen || around === null ? rangeFrom(params, now) : rangeAround(around, now)
  }, [from, to, preset, around, now])
  const [highlighted, onHighlight] = useState<number | null>(null)
  const shown = useMemo(() => new Set([highlighted, selected].filter((id) => id !== null)), [highlighted, selected])
  const chart = useChartData(promptId, range, now.getTime(), params.get('lines'))
  return { range, now, params, setParams, chart, highlighted, onHighlight, shown }
}

interface Props {
  state: ChartState
  promptName: string
  onOpen: (id: number) => void
}

export function LoadedChart({ state, promptName, onOpen }: Props) {
  const { range, now, params, setParams, chart, onHighlight, shown } = state
  const { data, failed, isPending } = chart
  return (
    <>
      {failed !== undefined && <LoadError error={failed.error} retry={failed.refetch} />}
      {data && (
        <ChartCard
          promptName={promptName}
          data={data}
          segmentKeys={chart.declared}
          range={range}
          now={now.getTime()}
          params={params}
          setParams={setParams}
          highlighted={shown}
          onHighlight={onHighlight}
          onOpen={onOpen}
        />
      )}
      {isPending && <Loading what="signals" />}
    </>
  )
}
