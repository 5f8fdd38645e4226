import type { SignalFilter } from '@promptledger/client'
import { useInfiniteQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ledger } from '../ledger.ts'
import { Button } from '../ui/button.tsx'
import { LoadState } from '../ui/load-state.tsx'
import { formatNumber } from '../ui/number.ts'
import { Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { RemovedNote } from './removed-note.tsx'
import { type SignalActions, signalColumns } from './signal-columns.tsx'

interface Props extends SignalActions {
  promptId: string
  filter: SignalFilter
  /** Shown if the search is complete and found nothing. */
  empty: ReactNode
}

/** The results of a filter that the service has to search for, a part at a time. */
export function SignalSearch({ promptId, filter, empty, ...actions }: Props) {
  const query = useInfiniteQuery({
    queryKey: ['signals', promptId, 'search', filter],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ signal, pageParam: cursor }) =>
      await ledger.signals.list(promptId, { ...filter, cursor }, { signal }),
    getNextPageParam: ({ search }) => search?.cursor ?? undefined,
  })
  const pages = query.data?.pages ?? []
  const signals = pages.flatMap(({ data }) => data)
  const examined = pages.reduce((sum, { search }) => sum + (search?.examined ?? 0), 0)
  const searchedTo = pages.at(-1)?.search?.searched_back_to ?? null
  return (
    <>
      <LoadState query={query} what="signals" />
      <RemovedNote change={pages[0]?.change} />
      {query.data !== undefined && (signals.length > 0 || searchedTo === null) && (
        <Table
          caption="Matching signals, newest first"
          columns={signalColumns(signals, actions)}
          rows={signals}
          rowKey={({ id }) => id}
          empty={empty}
        />
      )}
      {searchedTo !== null && (
        <div className="search-more">
          <p role="status">
            {signals.length === 0 && 'No match so far. '}
            Searched {formatNumber(examined)} signals, back to <Time at={searchedTo} />.
          </p>
          <Button onClick={() => query.fetchNextPage()} disabled={query.isFetchingNextPage}>
            {query.isFetchingNextPage ? 'Searching…' : 'Search older signals'}
          </Button>
        </div>
      )}
    </>
  )
}
