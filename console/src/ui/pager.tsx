import type { Pagination } from '@promptledger/client'
import { ChevronLeft, ChevronRight } from 'lucide-react'
import { Button } from './button.tsx'
import { formatNumber } from './number.ts'

interface Props {
  pagination: Pagination
  /** The plural of the items, such as `prompts`. */
  noun: string
  onPage: (page: number) => void
}

export function Pager({ pagination, noun, onPage }: Props) {
  const { current_page: page, total_pages: pages, total_count: count, per_page: size } = pagination
  if (pages <= 1) return null
  const first = (page - 1) * size + 1
  const last = Math.min(first + size - 1, count)
  return (
    <nav className="pager" aria-label={`Pages of ${noun}`}>
      <Button onClick={() => onPage(page - 1)} disabled={page <= 1} aria-label="Previous page">
        <ChevronLeft aria-hidden="true" />
      </Button>
      <span>
        {formatNumber(first)}–{formatNumber(last)} of {formatNumber(count)} {noun}
      </span>
      <Button onClick={() => onPage(page + 1)} disabled={page >= pages} aria-label="Next page">
        <ChevronRight aria-hidden="true" />
      </Button>
    </nav>
  )
}
