import { NotFoundError } from '@promptledger/client'
import { useQuery } from '@tanstack/react-query'
import { MessagesSquare } from 'lucide-react'
import { useEffect, useMemo, useState } from 'react'
import { Link } from 'wouter'
import { ledger } from '../ledger.ts'
import { NotFoundPage } from '../not-found-page.tsx'
import { usePageTitle } from '../page-title.ts'
import { OpenRegressions } from '../regressions/open-regressions.tsx'
import { Button } from '../ui/button.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { LoadError } from '../ui/load-error.tsx'
import { Loading } from '../ui/loading.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { useUrlParams } from '../url-params.ts'
import { Chart } from './chart.tsx'
import { ChartLegend } from './chart-legend.tsx'
import { actionsFrom, FilterBar } from './filter-bar.tsx'
import { LiveVersion } from './live-version.tsx'
import { useLiveChanges, useSummary, useTimeline } from './prompt-queries.ts'
import { rangeFrom } from './time-range.ts'
import { Timeline } from './timeline.tsx'

export function PromptPage({ id }: { id: string }) {
  const prompt = useQuery({
    queryKey: ['prompt', id],
    queryFn: ({ signal }) => ledger.prompts.get(id, { signal }),
  })
  usePageTitle(prompt.data?.name ?? 'Prompt')
  if (prompt.error instanceof NotFoundError) return <NotFoundPage />
  if (prompt.isPending) return <Loading what="the prompt" />
  if (prompt.isError) return <LoadError error={prompt.error} retry={prompt.refetch} />
  const { name, path, last_change: lastChange } = prompt.data
  return (
    <>
      <div className="page-head">
        <div>
          <nav className="breadcrumbs" aria-label="Breadcrumbs">
            <Link href="/prompts">Prompts</Link>
          </nav>
          <h1>
            <UntrustedText text={name} />
          </h1>
          {path !== null && path !== name && (
            <span className="path muted">
              <UntrustedText text={path} />
            </span>
          )}
          {lastChange !== null && <LiveVersion promptId={id} />}
        </div>
        <Link className="button plain" href={`/prompts/${id}/signals`}>
          <MessagesSquare aria-hidden="true" />
          Signals
        </Link>
      </div>
      <OpenRegressions promptId={id} />
      <ChartAndTimeline id={id} />
    </>
  )
}

function ChartAndTimeline({ id }: { id: string }) {
  const [params, setParams] = useUrlParams()
  // A range that ends "now" keeps its end while the page is open. If it moved, every render would reload everything.
  const [now] = useState(() => new Date())
  const range = useMemo(() => rangeFrom(params, now), [params, now])
  const selectedActions = actionsFrom(params)
  const open = Number(params.get('entry')) || null
  const [highlighted, setHighlighted] = useState<number | null>(null)
  const setOpen = (entry: number | null) => setParams({ entry: entry === null ? null : String(entry) })

  const summary = useSummary(id, range)
  const changes = useLiveChanges(id, range)
  const timeline = useTimeline(id, range, selectedActions)
  const items = timeline.data?.pages.flatMap(({ data }) => data) ?? []
  useLoadUntilEntry(timeline, open)

  const failed = [summary, changes, timeline].find(({ isError }) => isError)
  const isShown = (action: string) => selectedActions.length === 0 || selectedActions.some((name) => name === action)
  return (
    <>
      <FilterBar
        range={range}
        selectedActions={selectedActions}
        from={params.get('from') ?? ''}
        to={params.get('to') ?? ''}
        onChange={setParams}
      />
      {failed !== undefined && <LoadError error={failed.error} retry={failed.refetch} />}
      <section className="card chart-card" aria-labelledby="chart-title">
        <h2 id="chart-title">User feedback over time</h2>
        {summary.data && changes.data ? (
          <Chart
            summary={summary.data}
            changes={changes.data.filter(({ entry }) => isShown(entry.action))}
            range={range}
            highlighted={highlighted}
            onHighlight={setHighlighted}
            onOpen={setOpen}
          />
        ) : (
          failed === undefined && <Loading what="signals" />
        )}
        <ChartLegend />
      </section>
      <section aria-labelledby="history-title" className="history">
        <h2 id="history-title">History</h2>
        {timeline.isPending && <Loading what="the history" />}
        {timeline.data && items.length === 0 && (
          <EmptyState title="No matching entries">
            <p>No history entries match these filters. Try a longer time range.</p>
          </EmptyState>
        )}
        <Timeline
          promptId={id}
          items={items}
          open={open}
          onOpen={setOpen}
          highlighted={highlighted}
          onHighlight={setHighlighted}
        />
        {timeline.hasNextPage && (
          <Button className="show-older" busy={timeline.isFetchingNextPage} onClick={() => timeline.fetchNextPage()}>
            Show older entries
          </Button>
        )}
      </section>
    </>
  )
}

const maxPagesToSearch = 20

/** Loads older pages until the entry in the URL is among them. */
function useLoadUntilEntry(timeline: ReturnType<typeof useTimeline>, id: number | null): void {
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = timeline
  const pages = data?.pages ?? []
  const isMissing =
    id !== null && pages.length > 0 && !pages.some((page) => page.data.some(({ entry }) => entry.id === id))
  useEffect(() => {
    if (isMissing && hasNextPage && !isFetchingNextPage && pages.length < maxPagesToSearch) fetchNextPage()
  }, [isMissing, hasNextPage, isFetchingNextPage, pages.length, fetchNextPage])
}
