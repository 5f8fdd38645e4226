import type { Page, Signal } from '@promptledger/client'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { PagedTable } from '../ui/paged-table.tsx'
import { type SignalActions, signalColumns } from './signal-columns.tsx'

interface Props extends SignalActions {
  query: UseQueryResult<Page<Signal>>
  empty: ReactNode
}

export function SignalTable({ query, empty, ...actions }: Props) {
  return (
    <PagedTable
      query={query}
      noun="signals"
      caption="Signals, newest first"
      columns={signalColumns(query.data?.data ?? [], actions)}
      rowKey={({ id }) => id}
      empty={empty}
    />
  )
}
