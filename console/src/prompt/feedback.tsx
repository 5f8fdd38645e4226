import { useCallback, useMemo, useState } from 'react'
import { useOpenRegressions } from '../regressions/regression-query.ts'
import { LoadError } from '../ui/load-error.tsx'
import { Loading } from '../ui/loading.tsx'
import { useUrlParams } from '../url-params.ts'
import { ChangePanel } from './change-panel.tsx'
import { ChartCard } from './chart-card.tsx'
import { History } from './history.tsx'
import { maxLoadedChanges, useLiveChanges, useSummary } from './prompt-queries.ts'
import { rangeFrom } from './time-range.ts'

/** The chart, the history, and the selected change beside them. */
export function Feedback({ id, name }: { id: string; name: string }) {
  const [params, setParams] = useUrlParams()
  // A range that ends "now" keeps its end while the page is open. If it moved, every render would reload everything.
  const [now] = useState(() => new Date())
  const [from, to, preset] = [params.get('from'), params.get('to'), params.get('range')]
  // biome-ignore lint/correctness/useExhaustiveDependencies: other parameters do not change the range.
  const range = useMemo(() => rangeFrom(params, now), [from, to, preset, now])
  const open = Number(params.get('entry')) || null
  const [firstOpen] = useState(open)
  const [highlighted, setHighlighted] = useState<number | null>(null)
  const shown = useMemo(() => new Set([highlighted, open].filter((each) => each !== null)), [highlighted, open])
  const setOpen = useCallback(
    (entry: number | null) => setParams({ entry: entry === null ? null : String(entry) }),
    [setParams],
  )

  const summary = useSummary(id, range)
  const steps = summary.data?.data ?? []
  const liveIds = [...new Set(steps.map(({ entry_id: entryId }) => entryId).filter((entryId) => entryId != null))]
  const changeCount = steps.reduce((sum, { changes = 0 }) => sum + changes, 0)
  const isLoadable = summary.isSuccess && changeCount <= maxLoadedChanges
  const changes = useLiveChanges(id, range, liveIds, isLoadable && !summary.isPlaceholderData)
  const regressions = useOpenRegressions(id)

  const failed = [summary, changes].find(({ isError }) => isError)
  return (
    <div className="feedback" data-panel={open !== null}>
      <div className="feedback-chart">
        {failed !== undefined && <LoadError error={failed.error} retry={failed.refetch} />}
        {summary.data && (
          <ChartCard
            promptName={name}
            summary={summary.data}
            changes={(isLoadable && changes.data) || null}
            regressions={regressions.data?.data ?? []}
            range={range}
            now={now.getTime()}
            params={params}
            setParams={setParams}
            highlighted={shown}
            onHighlight={setHighlighted}
            onOpen={setOpen}
          />
        )}
        {summary.isPending && <Loading what="signals" />}
      </div>
      {open !== null && (
        <ChangePanel
          promptId={id}
          entryId={open}
          loaded={changes.data ?? []}
          regressions={regressions.data?.data ?? []}
          isDeepLink={open === firstOpen}
          onClose={() => setOpen(null)}
        />
      )}
      <History
        id={id}
        range={range}
        params={params}
        setParams={setParams}
        open={open}
        onOpen={setOpen}
        highlighted={highlighted}
        onHighlight={setHighlighted}
      />
    </div>
  )
}
