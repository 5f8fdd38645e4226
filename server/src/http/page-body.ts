import { type PageRequest, pageRequest, pagination } from '../domain/page.ts'
import { lastOf, type Query } from './parameters.ts'

/** The page that the query asks for. */
export function askedPage(query: unknown): PageRequest {
  const { page, limit } = query as Query
  return pageRequest(lastOf(page), lastOf(limit))
}

export function renderPage(data: unknown[], asked: PageRequest, totalCount: number): string {
  return renderPageOf(JSON.stringify(data), asked, totalCount)
}

/** The same for data that are JSON text already. */
export function renderPageOf(data: string, asked: PageRequest, totalCount: number): string {
  const { currentPage, totalPages, perPage } = pagination(asked, totalCount)
  // Written by hand because a page number may have more digits than a number can hold.
  return (
    `{"data":${data},"pagination":{"current_page":${currentPage},` +
    `"total_pages":${totalPages},"total_count":${totalCount},"per_page":${perPage}}}`
  )
}
