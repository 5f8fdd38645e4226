import type { Action } from '@promptledger/client'
import { useCallback, useState } from 'react'
import { isShared } from '../shared/token.ts'
import { useTrialsOf } from '../trials/trial-query.ts'
import { actionLabels, actions } from '../ui/action-icon.tsx'
import { Button } from '../ui/button.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { ExportLinks } from '../ui/export-links.tsx'
import { LoadState } from '../ui/load-state.tsx'
import { countOf } from '../ui/number.ts'
import { ToggleGroup } from '../ui/toggle-group.tsx'
import { type SetParams, useUrlParams } from '../url-params.ts'
import { ChangePanel } from './change-panel.tsx'
import { LoadedChart, useChart } from './loaded-chart.tsx'
import { useOlderCount, useTimeline } from './prompt-queries.ts'
import type { TimeRange } from './time-range.ts'
import { Timeline } from './timeline.tsx'

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

interface Props {
  id: string
  range: TimeRange
  params: URLSearchParams
  setParams: SetParams
  open: number | null
  onOpen: (id: number | null) => void
  highlighted: number | null
  onHighlight: (id: number | null) => void
}

/** The entries of the time that the chart shows, page by page. */
function History({ id, range, params, setParams, ...rest }: Props) {
  const actions = actionsFrom(params)
  const timeline = useTimeline(id, range, actions)
  const { data: trials } = useTrialsOf(id)
  const items = timeline.data?.pages.flatMap(({ data }) => data) ?? []
  const total = timeline.data?.pages[0]?.pagination.total_count ?? 0
  const isWhole = timeline.isSuccess && !timeline.hasNextPage
  const { data: older = 0 } = useOlderCount(id, range.from, actions, isWhole && range.preset !== 'all')
  return (
    <section aria-labelledby="history-title" className="history">
      <div className="history-head">
        <h2 id="history-title">History</h2>
        {timeline.data && <span className="muted small">{countOf(total, 'entry', 'entries')}</span>}
        {!isShared && (
          <ExportLinks
            what="the history"
            hrefOf={(format) => `/api/v1/prompts/${encodeURIComponent(id)}/timeline/export?format=${format}`}
          />
        )}
        <ActionFilter selected={actions} onChange={setParams} />
      </div>
      <LoadState query={timeline} what="the history" />
      {timeline.data && items.length === 0 && older === 0 && (
        <EmptyState title="No matching entries">
          <p>No history entries match these filters. Try a longer time range.</p>
        </EmptyState>
      )}
      <Timeline items={items} trials={trials} {...rest} />
      {isWhole && older > 0 && (
        <Button className="show-older" onClick={() => setParams({ range: 'all', from: null, to: null })}>
          {countOf(older, 'older entry', 'older entries')}
        </Button>
      )}
      {timeline.hasNextPage && (
        <Button className="show-older" busy={timeline.isFetchingNextPage} onClick={() => timeline.fetchNextPage()}>
          Show older entries
        </Button>
      )}
    </section>
  )
}

// A pull request that was merged or closed is one row, so only open ones are left.
const labels = { ...actionLabels, pr_opened: 'Open' }
const options = actions.map((action) => ({ value: action, label: labels[action] }))

/** Filters the history by action. */
function ActionFilter({ selected, onChange }: { selected: Action[]; onChange: SetParams }) {
  function toggle(action: Action) {
    const isSelected = selected.includes(action)
    const next = isSelected ? selected.filter((other) => other !== action) : [...selected, action]
    onChange({ action: next.length === 0 ? null : next.join(',') })
  }
  return (
    <ToggleGroup
      label="Actions"
      options={options}
      isSelected={(action) => selected.includes(action)}
      onSelect={toggle}
    />
  )
}

/** The actions in the URL. */
function actionsFrom(params: URLSearchParams): Action[] {
  const names = params.get('action')?.split(',') ?? []
  return actions.filter((action) => names.includes(action))
}
