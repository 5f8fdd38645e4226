import { NotFoundError, type Signal } from '@promptledger/client'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { Link } from 'wouter'
import { pageOf, useAddress } from '../address.ts'
import { ledger } from '../ledger.ts'
import { exportAddress, filterNames, filterOf } from '../signals/filter.ts'
import { Filters } from '../signals/filters.tsx'
import { SignalTable } from '../signals/signal-table.tsx'
import { TakeBack } from '../signals/take-back.tsx'
import { useTitle } from '../title.ts'
import { Empty } from '../ui/empty.tsx'
import { Failure } from '../ui/failure.tsx'
import { Loading } from '../ui/loading.tsx'
import { Pager } from '../ui/pager.tsx'
import { PastEnd } from '../ui/past-end.tsx'
import { NotFoundPage } from './not-found.tsx'

export function SignalsPage({ id }: { id: string }) {
  const [address, change] = useAddress()
  const filter = filterOf(address)
  const page = pageOf(address)
  const [leaving, setLeaving] = useState<Signal | null>(null)
  const [news, setNews] = useState('')
  const newsLine = useRef<HTMLParagraphElement>(null)
  // The button that had the focus goes with its row.
  useEffect(() => {
    if (news !== '') newsLine.current?.focus()
  }, [news])
  const prompt = useQuery({
    queryKey: ['prompt', id],
    queryFn: ({ signal }) => ledger.prompts.get(id, { signal }),
  })
  const signals = useQuery({
    queryKey: ['signals', id, { ...filter, page }],
    queryFn: async ({ signal }) => await ledger.signals.list(id, { ...filter, page }, { signal }),
    placeholderData: keepPreviousData,
  })
  useTitle(prompt.data === undefined ? 'Signals' : `Signals of ${prompt.data.name}`)
  if (prompt.error instanceof NotFoundError) return <NotFoundPage />
  const goTo = (next: number) => change({ page: next === 1 ? null : String(next) })
  const { data: found, pagination } = signals.data ?? {}
  return (
    <>
      <div className="page-head">
        <div>
          <nav className="crumbs" aria-label="Where this page is">
            <Link href="/prompts">Prompts</Link>
            <Link href={`/prompts/${encodeURIComponent(id)}`}>{prompt.data?.name ?? '…'}</Link>
          </nav>
          <h1>Signals</h1>
        </div>
        <div className="page-acts">
          {(['csv', 'ndjson'] as const).map((format) => (
            <a key={format} className="button plain" href={exportAddress(id, filter, format)} download>
              <Download aria-hidden="true" />
              {format.toUpperCase()}
              <span className="unseen"> export of these signals</span>
            </a>
          ))}
        </div>
      </div>
      <Filters filter={filter} onChange={(changes) => change({ ...changes, page: null })} />
      <p className="list-news" role="status" tabIndex={-1} ref={newsLine}>
        {news}
      </p>
      {signals.isPending && <Loading what="signals" />}
      {signals.isError && <Failure error={signals.error} retry={signals.refetch} />}
      {found?.length === 0 &&
        pagination !== undefined &&
        (pagination.total_count > 0 ? (
          <PastEnd pagination={pagination} onPage={goTo} />
        ) : (
          <NoSignals promptId={id} isFiltered={filterNames.some((name) => filter[name] !== undefined)} />
        ))}
      {found !== undefined && found.length > 0 && pagination !== undefined && (
        <>
          <SignalTable signals={found} onTakeBack={setLeaving} />
          <Pager pagination={pagination} what="signals" onPage={goTo} />
        </>
      )}
      {leaving !== null && (
        <TakeBack
          promptId={id}
          signal={leaving}
          onDone={() => {
            setNews(`Signal ${leaving.id} was taken back.`)
            setLeaving(null)
          }}
          onClose={() => setLeaving(null)}
        />
      )}
    </>
  )
}

function NoSignals({ promptId, isFiltered }: { promptId: string; isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <Empty title="None of these">
        <p>No signal has this value at this time. Clear the filters to see all.</p>
      </Empty>
    )
  }
  return (
    <Empty title="No signals yet">
      <p>
        Have your application send what users think of what came of this prompt; a key of the role ingest is enough.
      </p>
      <pre>{`curl -X POST -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" \\
  -d '{"value":"positive","metadata":{"trace":"4bf92f35"}}' \\
  ${window.location.origin}/api/v1/prompts/${promptId}/signals`}</pre>
    </Empty>
  )
}
