import type { Pagination } from '@promptledger/client'
import { Button } from './button.tsx'
import { Empty } from './empty.tsx'

interface Props {
  pagination: Pagination
  onPage: (page: number) => void
}

/** For a page that there no longer is: its last item is gone, or the address is an old one. */
export function PastEnd({ pagination, onPage }: Props) {
  return (
    <Empty title="Nothing on this page any more">
      <Button onClick={() => onPage(pagination.total_pages)}>To the last page</Button>
    </Empty>
  )
}
