import { type PageRequest, pageRequest, pagination } from '../domain/page.ts'
import { lastValue, type Query } from './parameters.ts'

/** The page that the query asks for. */
export function requestedPage(query: unknown): PageRequest {
  const { page, limit } = query as Query
  return pageRequest(lastValue(page), lastValue(limit))
}

export function renderPage(data: unknown[], request: PageRequest, totalCount: number): string {
  return renderPageJson(JSON.stringify(data), request, totalCount)
}

/** Like `renderPage`, for data that is already JSON text. */
export function renderPageJson(data: string, request: PageRequest, totalCount: number): string {
  const { currentPage, totalPages, perPage } = pagination(request, totalCount)
  // Built by hand because `current_page` echoes the request and can have more digits than a number can hold.
  return (
    `{"data":${data},"pagination":{"current_page":${currentPage},` +
    `"total_pages":${totalPages},"total_count":${totalCount},"per_page":${perPage}}}`
  )
}
