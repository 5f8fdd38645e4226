import { NotFoundError, type Page, type Signal, type SignalPage } from '@promptledger/client'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import { ledger } from '../ledger.ts'
import { NotFoundPage } from '../not-found-page.tsx'
import { usePageTitle } from '../page-title.ts'
import { ExportLinks } from '../ui/export-links.tsx'
import { pageFrom, type SetParams, useUrlParams } from '../url-params.ts'
import { PromptHead } from '../versions/prompt-head.tsx'
import { usePrompt } from '../versions/prompt-query.ts'
import { ActiveFilters } from './active-filters.tsx'
import { DeleteSignal } from './delete-signal.tsx'
import { FilterBar } from './filter-bar.tsx'
import { NoSignals } from './no-signals.tsx'
import { RemovedNote } from './removed-note.tsx'
import { exportUrl, filterFrom, isSearch, memberParameter } from './signal-filter.ts'
import { SignalSearch } from './signal-search.tsx'
import { SignalTable } from './signal-table.tsx'

type CountedPage = Page<Signal> & Pick<SignalPage, 'change'>

export function SignalsPage({ promptId, canDelete }: { promptId: string; canDelete: boolean }) {
  const [params, setParams] = useUrlParams()
  const filter = filterFrom(params)
  const page = pageFrom(params)
  const changeFilter: SetParams = useCallback(
    (changes, options) => setParams({ ...changes, page: null }, options),
    [setParams],
  )
  const [toDelete, setToDelete] = useState<Signal | null>(null)
  const [status, setStatus] = useState('')
  const statusLine = useFocusOnChange(status)
  const prompt = usePrompt(promptId)
  const signals = useQuery({
    queryKey: ['signals', promptId, { ...filter, page }],
    // A list that is no search has its totals.
    queryFn: async ({ signal }) =>
      (await ledger.signals.list(promptId, { ...filter, page }, { signal })) as CountedPage,
    enabled: !isSearch(filter),
    placeholderData: keepPreviousData,
  })
  const empty = <NoSignals filter={filter} />
  const actions = {
    onDelete: canDelete ? setToDelete : null,
    onMember: (name: string, value: string) => changeFilter({ [memberParameter(name)]: value }),
  }
  usePageTitle(prompt.data === undefined ? 'Signals' : `Signals of ${prompt.data.name}`)
  if (prompt.error instanceof NotFoundError) return <NotFoundPage />
  return (
    <>
      <PromptHead prompt={prompt.data ?? { id: promptId, name: '…', path: null }} section="Signals" />
      <div className="section-head">
        <h2>Signals</h2>
        <ExportLinks what="these signals" hrefOf={(format) => exportUrl(promptId, filter, format)} />
      </div>
      <FilterBar promptId={promptId} filter={filter} onChange={changeFilter} />
      <ActiveFilters promptId={promptId} filter={filter} onChange={changeFilter} />
      <p className="list-status" role="status" tabIndex={-1} ref={statusLine}>
        {status}
      </p>
      {isSearch(filter) ? (
        <SignalSearch promptId={promptId} filter={filter} empty={empty} {...actions} />
      ) : (
        <>
          <RemovedNote change={signals.data?.change} />
          <SignalTable query={signals} empty={empty} {...actions} />
        </>
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
