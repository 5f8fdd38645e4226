import { isShared } from '../shared/token.ts'
import { Button } from '../ui/button.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { ExportLinks } from '../ui/export-links.tsx'
import { LoadError } from '../ui/load-error.tsx'
import { Loading } from '../ui/loading.tsx'
import { countOf } from '../ui/number.ts'
import type { SetParams } from '../url-params.ts'
import { ActionFilter, actionsFrom } from './action-filter.tsx'
import { useOlderCount, useTimeline } from './prompt-queries.ts'
import type { TimeRange } from './time-range.ts'
import { Timeline } from './timeline.tsx'

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
export function History({ id, range, params, setParams, ...rest }: Props) {
  const actions = actionsFrom(params)
  const timeline = useTimeline(id, range, actions)
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
      {timeline.isPending && <Loading what="the history" />}
      {timeline.isError && <LoadError error={timeline.error} retry={timeline.refetch} />}
      {timeline.data && items.length === 0 && older === 0 && (
        <EmptyState title="No matching entries">
          <p>No history entries match these filters. Try a longer time range.</p>
        </EmptyState>
      )}
      <Timeline items={items} {...rest} />
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
