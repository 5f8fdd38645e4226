import { NotFoundError, type Page, type Signal, type SignalFilter, type SignalPage } from '@promptledger/client'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import { ledger } from '../ledger.ts'
import { useMutation } from '../mutation.ts'
import { NotFoundPage } from '../not-found-page.tsx'
import { usePageTitle } from '../page-head.tsx'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { ExportLinks } from '../ui/export-links.tsx'
import { PagedTable } from '../ui/paged-table.tsx'
import { Time } from '../ui/time.tsx'
import { pageFrom, type SetParams, useUrlParams } from '../url-params.ts'
import { PromptHead } from '../versions/prompt-head.tsx'
import { usePrompt } from '../versions/version-queries.ts'
import { ActiveFilters } from './active-filters.tsx'
import { FilterBar } from './filter-bar.tsx'
import { RemovedNote } from './removed-note.tsx'
import { signalColumns } from './signal-columns.tsx'
import { exportUrl, filterFrom, isFiltered, isSearch, memberParameter } from './signal-filter.ts'
import { SignalSearch } from './signal-search.tsx'
import { SignalValue } from './signal-value.tsx'

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
          <PagedTable
            query={signals}
            noun="signals"
            caption="Signals, newest first"
            columns={signalColumns(signals.data?.data ?? [], actions)}
            rowKey={({ id }) => id}
            empty={empty}
          />
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

/** Why the list is empty, and what to do about it. */
function NoSignals({ filter }: { filter: SignalFilter }) {
  const { change, side, ...others } = filter
  if (change !== undefined && !isFiltered(others)) {
    return (
      <EmptyState title={`No signals ${side} this change`}>
        {side === 'before' ? (
          <p>It is the first change that went live, or no signal counted for the one before it.</p>
        ) : (
          <p>No signal names this version, and none arrived without a version while it was live.</p>
        )}
      </EmptyState>
    )
  }
  if (isFiltered(filter)) {
    return (
      <EmptyState title="No matching signals">
        <p>No signal matches these filters. Remove one, or clear them to see all signals.</p>
      </EmptyState>
    )
  }
  return (
    <EmptyState title="No signals yet">
      <p>
        Send a signal from your application when a user rates an output of this prompt. An ingest key is enough, and{' '}
        <em>Send signals</em> above has the code.
      </p>
    </EmptyState>
  )
}

interface DeleteSignalProps {
  promptId: string
  signal: Signal
  onDeleted: () => void
  onClose: () => void
}

function DeleteSignal({ promptId, signal, onDeleted, onClose }: DeleteSignalProps) {
  const queryClient = useQueryClient()
  const deletion = useMutation({
    mutationFn: () => ledger.signals.delete(promptId, signal.id),
    // Shares, charts and verdicts on every page change with it.
    onSuccess: () => queryClient.invalidateQueries(),
  })
  return (
    <ConfirmDialog
      title="Delete this signal?"
      confirmLabel="Delete signal"
      mutation={deletion}
      onConfirm={() => deletion.mutate(undefined, { onSuccess: onDeleted })}
      onClose={onClose}
    >
      <p className="confirm-subject">
        <SignalValue value={signal.value} />
        <Time at={signal.created_at} />
      </p>
      <p>
        Percentages, charts and verdicts will no longer include it. It still counts towards the monthly limit. This
        cannot be undone.
      </p>
    </ConfirmDialog>
  )
}
