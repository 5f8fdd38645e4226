import { NotFoundError, type TimelineEntry } from '@promptledger/client'
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { MessagesSquare } from 'lucide-react'
import { useEffect, useMemo, useState } from 'react'
import { Link } from 'wouter'
import { useAddress } from '../address.ts'
import { ledger } from '../ledger.ts'
import { Chart } from '../prompt/chart.tsx'
import { actionsOf, Filters } from '../prompt/filters.tsx'
import { intervalOf, rangeOf } from '../prompt/range.ts'
import { Timeline } from '../prompt/timeline.tsx'
import { useTitle } from '../title.ts'
import { Button } from '../ui/button.tsx'
import { Empty } from '../ui/empty.tsx'
import { Failure } from '../ui/failure.tsx'
import { Loading } from '../ui/loading.tsx'
import { NotFoundPage } from './not-found.tsx'

// Beyond it, markers would cover each other.
const mostMarkers = 300
// An entry that an address names is looked for this far back.
const mostPages = 20

export function PromptPage({ id }: { id: string }) {
  const prompt = useQuery({
    queryKey: ['prompt', id],
    queryFn: ({ signal }) => ledger.prompts.get(id, { signal }),
  })
  useTitle(prompt.data?.name ?? 'Prompt')
  if (prompt.error instanceof NotFoundError) return <NotFoundPage />
  if (prompt.isPending) return <Loading what="the prompt" />
  if (prompt.isError) return <Failure error={prompt.error} retry={prompt.refetch} />
  const { name, path } = prompt.data
  return (
    <>
      <div className="page-head">
        <div>
          <nav className="crumbs" aria-label="Where this is">
            <Link href="/prompts">Prompts</Link>
          </nav>
          <h1>{name}</h1>
          {path !== null && path !== name && <span className="path quiet">{path}</span>}
        </div>
        <Link className="button plain" href={`/prompts/${id}/signals`}>
          <MessagesSquare aria-hidden="true" />
          Signals
        </Link>
      </div>
      <PromptView id={id} />
    </>
  )
}

/** The chart and the timeline of the same time. */
function PromptView({ id }: { id: string }) {
  const [address, change] = useAddress()
  // The end of "the last year" must not move while one looks, or everything would be asked for again and again.
  const [now] = useState(() => new Date())
  const range = useMemo(() => rangeOf(address, now), [address, now])
  const chosen = actionsOf(address.get('action'))
  const open = Number(address.get('entry')) || null
  const [pointed, setPointed] = useState<number | null>(null)
  const setOpen = (entry: number | null) => change({ entry: entry === null ? null : String(entry) })

  const span = { since: range.from, until: range.to }
  const summary = useQuery({
    queryKey: ['summary', id, range.from, range.to],
    queryFn: ({ signal }) =>
      ledger.signals.summary(id, { from: range.from, to: range.to, interval: intervalOf(range) }, { signal }),
    placeholderData: keepPreviousData,
  })
  const changes = useQuery({
    queryKey: ['changes', id, range.from, range.to],
    queryFn: async ({ signal }) => {
      const found: TimelineEntry[] = []
      for await (const item of ledger.timeline.list(id, { ...span, action: ['deployed', 'pr_merged'] }, { signal })) {
        found.push(item)
        if (found.length >= mostMarkers) break
      }
      return found
    },
    placeholderData: keepPreviousData,
  })
  const timeline = useInfiniteQuery({
    queryKey: ['timeline', id, range.from, range.to, chosen.join()],
    initialPageParam: 1,
    queryFn: async ({ signal, pageParam: page }) => {
      const action = chosen.length === 0 ? undefined : chosen
      return await ledger.timeline.list(id, { ...span, action, page }, { signal })
    },
    getNextPageParam: ({ pagination }) =>
      pagination.current_page < pagination.total_pages ? pagination.current_page + 1 : undefined,
    placeholderData: keepPreviousData,
  })

  const pages = timeline.data?.pages ?? []
  const items = pages.flatMap(({ data }) => data)
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = timeline
  const isMissing = open !== null && pages.length > 0 && !items.some(({ entry }) => entry.id === open)
  useEffect(() => {
    if (isMissing && hasNextPage && !isFetchingNextPage && pages.length < mostPages) fetchNextPage()
  }, [isMissing, hasNextPage, isFetchingNextPage, pages.length, fetchNextPage])

  const failed = [summary, changes, timeline].find(({ isError }) => isError)
  const shownActions = chosen.length === 0 ? null : new Set<string>(chosen)
  return (
    <>
      <Filters
        range={range}
        chosen={chosen}
        from={address.get('from') ?? ''}
        to={address.get('to') ?? ''}
        onChange={change}
      />
      {failed !== undefined && <Failure error={failed.error} retry={failed.refetch} />}
      <section className="card chart-card" aria-labelledby="chart-title">
        <h2 id="chart-title">What users thought</h2>
        {summary.data && changes.data ? (
          <Chart
            summary={summary.data}
            changes={changes.data.filter(({ entry }) => shownActions?.has(entry.action) ?? true)}
            range={range}
            pointed={pointed}
            onPoint={setPointed}
            onOpen={setOpen}
          />
        ) : (
          failed === undefined && <Loading what="signals" />
        )}
        <Legend />
      </section>
      <section aria-labelledby="timeline-title" className="timeline-section">
        <h2 id="timeline-title">History</h2>
        {timeline.isPending && <Loading what="the history" />}
        {timeline.data && items.length === 0 && (
          <Empty title="Nothing happened">
            <p>There is no entry of this kind in this time.</p>
          </Empty>
        )}
        <Timeline promptId={id} items={items} open={open} onOpen={setOpen} pointed={pointed} onPoint={setPointed} />
        {hasNextPage && (
          <Button className="more" busy={isFetchingNextPage} onClick={() => fetchNextPage()}>
            Show older ones
          </Button>
        )}
      </section>
    </>
  )
}

function Legend() {
  return (
    <ul className="legend" aria-label="Legend">
      <li>
        <span className="legend-line" /> share of positive signals
      </li>
      <li>
        <span className="legend-band" /> where it lies with 95 % confidence
      </li>
      <li>
        <span className="legend-level" /> while one change was live
      </li>
      <li>
        <span className="legend-bar" /> number of signals
      </li>
      <li>
        <span className="legend-dot better" /> better
      </li>
      <li>
        <span className="legend-dot worse" /> worse
      </li>
    </ul>
  )
}
