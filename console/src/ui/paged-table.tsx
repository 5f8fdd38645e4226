import type { Page, Pagination } from '@promptledger/client'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ComponentProps } from 'react'
import { useUrlParams } from '../url-params.ts'
import { Button } from './button.tsx'
import { EmptyState } from './empty-state.tsx'
import { LoadState } from './load-state.tsx'
import { Pager } from './pager.tsx'
import { Table } from './table.tsx'

interface Props<Row, Field extends string> extends Omit<ComponentProps<typeof Table<Row, Field>>, 'rows'> {
  query: UseQueryResult<Page<Row>>
  /** The plural of what the rows are, such as `prompts`. */
  noun: string
}

/** A table of one page of a list. The page number is the `page` parameter of the URL. */
export function PagedTable<Row, Field extends string = never>({ query, noun, ...table }: Props<Row, Field>) {
  const [, setParams] = useUrlParams()
  const goTo = (page: number) => setParams({ page: page === 1 ? null : String(page) })
  const { data: rows, pagination } = query.data ?? {}
  const isPastEnd = rows?.length === 0 && pagination !== undefined && pagination.total_count > 0
  return (
    <>
      <LoadState query={query} what={noun} />
      {isPastEnd && <PastEnd pagination={pagination} onPage={goTo} />}
      {rows !== undefined && !isPastEnd && <Table rows={rows} {...table} />}
      {pagination !== undefined && !isPastEnd && <Pager pagination={pagination} noun={noun} onPage={goTo} />}
    </>
  )
}

interface PastEndProps {
  pagination: Pagination
  onPage: (page: number) => void
}

/** For a page number beyond the last page: its last row was deleted, or the link is old. */
function PastEnd({ pagination, onPage }: PastEndProps) {
  return (
    <EmptyState title="Nothing on this page">
      <Button onClick={() => onPage(pagination.total_pages)}>Go to the last page</Button>
    </EmptyState>
  )
}
