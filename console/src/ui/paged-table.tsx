import type { Page } from '@promptledger/client'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ComponentProps } from 'react'
import { useUrlParams } from '../url-params.ts'
import { LoadError } from './load-error.tsx'
import { Loading } from './loading.tsx'
import { Pager } from './pager.tsx'
import { PastEnd } from './past-end.tsx'
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
      {query.isPending && <Loading what={noun} />}
      {query.isError && <LoadError error={query.error} retry={query.refetch} />}
      {isPastEnd && <PastEnd pagination={pagination} onPage={goTo} />}
      {rows !== undefined && !isPastEnd && <Table rows={rows} {...table} />}
      {pagination !== undefined && !isPastEnd && <Pager pagination={pagination} noun={noun} onPage={goTo} />}
    </>
  )
}
