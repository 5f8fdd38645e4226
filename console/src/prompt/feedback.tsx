import { useCallback, useState } from 'react'
import { useUrlParams } from '../url-params.ts'
import { ChangePanel } from './change-panel.tsx'
import { History } from './history.tsx'
import { LoadedChart, useChart } from './loaded-chart.tsx'

/** The chart, the history, and the selected change beside them. */
export function Feedback({ id, name }: { id: string; name: string }) {
  const [params, setParams] = useUrlParams()
  const open = Number(params.get('entry')) || null
  const [firstOpen] = useState(open)
  const setOpen = useCallback(
    (entry: number | null) => setParams({ entry: entry === null ? null : String(entry) }),
    [setParams],
  )
  const state = useChart(id, open)
  const { chart, range, highlighted, onHighlight } = state
  return (
    <div className="feedback" data-panel={open !== null}>
      <div className="feedback-chart">
        <LoadedChart state={state} promptName={name} onOpen={setOpen} />
      </div>
      {open !== null && (
        <ChangePanel
          promptId={id}
          entryId={open}
          loaded={chart.changes}
          regressions={chart.regressions}
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
        onHighlight={onHighlight}
      />
    </div>
  )
}
