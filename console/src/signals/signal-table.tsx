import type { Page, Signal } from '@promptledger/client'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { PagedTable } from '../ui/paged-table.tsx'
import { signalColumns } from './signal-columns.tsx'

interface Props {
  query: UseQueryResult<Page<Signal>>
  empty: ReactNode
  /** Null if the key may not delete signals. */
  onDelete: ((signal: Signal) => void) | null
}

export function SignalTable({ query, empty, onDelete }: Props) {
  return (
    <PagedTable
      query={query}
      noun="signals"
      caption="Signals, newest first"
      columns={signalColumns(query.data?.data ?? [], onDelete)}
      rowKey={({ id }) => id}
      empty={empty}
    />
  )
}
