import type { Regression, TimelineEntry } from '@promptledger/client'
import { useMemo } from 'react'
import { useOpenRegressions } from '../regressions/regression-query.ts'
import { isShared } from '../shared/token.ts'
import { usePromptShifts } from '../shifts/shift-query.ts'
import { usePromptSegments } from '../signals/segment-query.ts'
import { shiftBands } from './chart-shifts.ts'
import type { ChartData } from './chart-view.ts'
import { maxLoadedChanges, useDividedLives, useLiveChanges, useSegmentLines, useSummary } from './prompt-queries.ts'
import type { TimeRange } from './time-range.ts'

const noKeys: string[] = []

export interface LoadedChartData {
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
export function useChartData(id: string, range: TimeRange, now: number, lines: string | null): LoadedChartData {
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
