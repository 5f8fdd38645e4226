import type { Page, Signal } from '@promptledger/client'
import type { UseQueryResult } from '@tanstack/react-query'
import { Trash2 } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from '../ui/button.tsx'
import { PagedTable } from '../ui/paged-table.tsx'
import type { Column } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { Metadata } from './metadata.tsx'
import { SignalValue } from './signal-value.tsx'

interface Props {
  query: UseQueryResult<Page<Signal>>
  empty: ReactNode
  /** Null if the key may not delete signals. */
  onDelete: ((signal: Signal) => void) | null
}

export function SignalTable({ query, empty, onDelete }: Props) {
  const columns: Column<Signal>[] = [
    { header: 'Value', cell: ({ value }) => <SignalValue value={value} /> },
    { header: 'Time', className: 'nowrap', cell: ({ created_at: createdAt }) => <Time at={createdAt} /> },
    { header: 'Metadata', className: 'metadata-cell', cell: ({ metadata }) => <Metadata metadata={metadata} /> },
  ]
  if (onDelete !== null) {
    columns.push({
      header: 'Actions',
      isHeaderHidden: true,
      cell: (signal) => (
        <div className="row-actions">
          <Button onClick={() => onDelete(signal)} aria-label={`Delete signal ${signal.id}`}>
            <Trash2 aria-hidden="true" />
            Delete
          </Button>
        </div>
      ),
    })
  }
  return (
    <PagedTable
      query={query}
      noun="signals"
      caption="Signals, newest first"
      columns={columns}
      rowKey={({ id }) => id}
      empty={empty}
    />
  )
}
