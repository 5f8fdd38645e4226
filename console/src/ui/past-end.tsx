import type { Pagination } from '@promptledger/client'
import { Button } from './button.tsx'
import { EmptyState } from './empty-state.tsx'

interface Props {
  pagination: Pagination
  onPage: (page: number) => void
}

/** For a page number beyond the last page: its last row was deleted, or the link is old. */
export function PastEnd({ pagination, onPage }: Props) {
  return (
    <EmptyState title="Nothing on this page">
      <Button onClick={() => onPage(pagination.total_pages)}>Go to the last page</Button>
    </EmptyState>
  )
}
