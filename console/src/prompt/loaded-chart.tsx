import type { Regression, TimelineEntry } from '@promptledger/client'
import { useMemo, useState } from 'react'
import { useOpenRegressions } from '../regressions/regression-query.ts'
import { isShared } from '../shared/token.ts'
import { usePromptShifts } from '../shifts/shift-query.ts'
import { usePromptSegments } from '../signals/segments.tsx'
import { LoadError, Loading } from '../ui/load-state.tsx'
import { type SetParams, useUrlParams } from '../url-params.ts'
import { ChartCard } from './chart-card.tsx'
import { shiftBands } from './chart-shifts.ts'
import type { ChartData } from './chart-view.ts'
import { maxLoadedChanges, useDividedLives, useLiveChanges, useSegmentLines, useSummary } from './prompt-queries.ts'
import { rangeAround, rangeFrom, type TimeRange } from './time-range.ts'

/** The chart of a prompt: the time range in the URL, its data, and the highlighted change. */
interface ChartState {
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

const noKeys: string[] = []

interface LoadedChartData {
  /** Undefined until there is something to draw. */
  data: ChartData | undefined
  /** The changes that are loaded, drawn or not. */
  changes: TimelineEntry[]
  regressions: Regression[]
  /** The keys that segments can be drawn by. */
  declared: string[]
  /** The request that failed. */
  failed: { error: Error | null; refetch: () => unknown } | undefined
  isPending: boolean
}

/** Everything that the chart of a prompt draws. `now` must not change while the page is open: everything would be loaded again. */
function useChartData(id: string, range: TimeRange, now: number, lines: string | null): LoadedChartData {
  const summary = useSummary(id, range)
  const steps = summary.data?.data ?? []
  const liveIds = [...new Set(steps.map(({ entry_id: entryId }) => entryId).filter((entryId) => entryId != null))]
  const changeCount = steps.reduce((sum, { changes = 0 }) => sum + changes, 0)
  const isLoadable = summary.isSuccess && changeCount <= maxLoadedChanges
  const changes = useLiveChanges(id, range, liveIds, isLoadable && !summary.isPlaceholderData)
  const open = useOpenRegressions(id)
  const shifts = usePromptShifts(id)
  const bands = useMemo(() => shiftBands(shifts.data ?? []), [shifts.data])
  const drawn = (isLoadable && changes.data) || null
  const parts = useDividedLives(id, drawn ?? [], bands, now)
  // A share link does not tell which keys are declared.
  const declared = usePromptSegments(id, !isShared).data?.keys ?? noKeys
  const key = declared.find((name) => name === lines) ?? null
  const segments = useSegmentLines(id, range, summary.data?.interval, key)
  const data = useMemo(
    () =>
      summary.data && {
        summary: summary.data,
        changes: drawn,
        regressions: open.data?.data ?? [],
        shifts: bands,
        parts: parts.data ?? [],
        segments: key === null ? null : (segments.data ?? null),
      },
    [summary.data, drawn, open.data, bands, parts.data, key, segments.data],
  )
  return {
    data,
    changes: changes.data ?? [],
    regressions: open.data?.data ?? [],
    declared,
    failed: [summary, changes, segments].find(({ isError }) => isError),
    isPending: summary.isPending,
  }
}
