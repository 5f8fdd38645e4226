import { NotFoundError, type Page, type Signal } from '@promptledger/client'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { useCallback, useEffect, useRef, useState } from 'react'
import { Link } from 'wouter'
import { ledger } from '../ledger.ts'
import { NotFoundPage } from '../not-found-page.tsx'
import { usePageTitle } from '../page-title.ts'
import { EmptyState } from '../ui/empty-state.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { pageFrom, useUrlParams } from '../url-params.ts'
import { DeleteSignal } from './delete-signal.tsx'
import { FilterBar } from './filter-bar.tsx'
import { exportUrl, filterFrom, isFiltered, isSearch } from './signal-filter.ts'
import { SignalSearch } from './signal-search.tsx'
import { SignalTable } from './signal-table.tsx'

export function SignalsPage({ promptId, canDelete }: { promptId: string; canDelete: boolean }) {
  const [params, setParams] = useUrlParams()
  const filter = filterFrom(params)
  const page = pageFrom(params)
  const changeFilter = useCallback(
    (changes: Record<string, string | null>) => setParams({ ...changes, page: null }),
    [setParams],
  )
  const [toDelete, setToDelete] = useState<Signal | null>(null)
  const [status, setStatus] = useState('')
  const statusLine = useFocusOnChange(status)
  const prompt = useQuery({
    queryKey: ['prompt', promptId],
    queryFn: ({ signal }) => ledger.prompts.get(promptId, { signal }),
  })
  const signals = useQuery({
    queryKey: ['signals', promptId, { ...filter, page }],
    // A list that is no search has its totals.
    queryFn: async ({ signal }) =>
      (await ledger.signals.list(promptId, { ...filter, page }, { signal })) as Page<Signal>,
    enabled: !isSearch(filter),
    placeholderData: keepPreviousData,
  })
  usePageTitle(prompt.data === undefined ? 'Signals' : `Signals of ${prompt.data.name}`)
  if (prompt.error instanceof NotFoundError) return <NotFoundPage />
  return (
    <>
      <div className="page-head">
        <div>
          <nav className="breadcrumbs" aria-label="Breadcrumbs">
            <Link href="/prompts">Prompts</Link>
            <Link href={`/prompts/${encodeURIComponent(promptId)}`}>
              <UntrustedText text={prompt.data?.name ?? '…'} />
            </Link>
          </nav>
          <h1>Signals</h1>
        </div>
        <div className="page-actions">
          {(['csv', 'ndjson'] as const).map((format) => (
            <a key={format} className="button plain" href={exportUrl(promptId, filter, format)} download>
              <Download aria-hidden="true" />
              <span className="visually-hidden">Export these signals as </span>
              {format.toUpperCase()}
            </a>
          ))}
        </div>
      </div>
      <FilterBar filter={filter} onChange={changeFilter} />
      <p className="list-status" role="status" tabIndex={-1} ref={statusLine}>
        {status}
      </p>
      {isSearch(filter) ? (
        <SignalSearch
          promptId={promptId}
          filter={filter}
          empty={<NoMatches />}
          onDelete={canDelete ? setToDelete : null}
        />
      ) : (
        <SignalTable
          query={signals}
          empty={isFiltered(filter) ? <NoMatches /> : <NoSignals promptId={promptId} />}
          onDelete={canDelete ? setToDelete : null}
        />
      )}
      {toDelete !== null && (
        <DeleteSignal
          promptId={promptId}
          signal={toDelete}
          onDeleted={() => {
            setStatus(`Signal ${toDelete.id} was deleted.`)
            setToDelete(null)
          }}
          onClose={() => setToDelete(null)}
        />
      )}
    </>
  )
}

/** Deleting a row removes the button that had the focus. Without a new target, keyboard users would lose their place. */
function useFocusOnChange(status: string) {
  const line = useRef<HTMLParagraphElement>(null)
  useEffect(() => {
    if (status !== '') line.current?.focus()
  }, [status])
  return line
}

function NoMatches() {
  return (
    <EmptyState title="No matching signals">
      <p>No signal matches these filters. Clear them to see all signals.</p>
    </EmptyState>
  )
}

function NoSignals({ promptId }: { promptId: string }) {
  return (
    <EmptyState title="No signals yet">
      <p>Send a signal from your application when a user rates an output of this prompt. An ingest key is enough.</p>
      <pre>{`curl -X POST -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" \\
  -d '{"value":"positive","metadata":{"trace":"4bf92f35"}}' \\
  ${window.location.origin}/api/v1/prompts/${promptId}/signals`}</pre>
    </EmptyState>
  )
}
