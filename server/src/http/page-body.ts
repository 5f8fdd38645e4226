import type { FastifyReply } from 'fastify'
import { type PageRequest, pageOffset, pageRequest, pagination } from '../domain/page.ts'
import { lastValue, type Query } from './parameters.ts'

/** The page that the query asks for. */
export function requestedPage(query: unknown): PageRequest {
  const { page, limit } = query as Query
  return pageRequest(lastValue(page), lastValue(limit))
}

/** The part of a whole list that is on the page. Only for lists with a limit: any other is as long as a tenant makes it. */
export function cutPage<Item>(all: readonly Item[], request: PageRequest): Item[] {
  const offset = pageOffset(request)
  return all.slice(offset, offset + request.limit)
}

/** Responds with a page. `more` is added beside the data and the pagination. */
export function sendPage(
  reply: FastifyReply,
  data: unknown[],
  request: PageRequest,
  totalCount: number,
  more?: object,
): FastifyReply {
  return reply.type('application/json; charset=utf-8').send(renderPage(data, request, totalCount, more))
}

/** `more` is added beside the data and the pagination. */
export function renderPage(data: unknown[], request: PageRequest, totalCount: number, more: object = {}): string {
  const page = renderPageJson(JSON.stringify(data), request, totalCount)
  const members = JSON.stringify(more).slice(1, -1)
  return members === '' ? page : `${page.slice(0, -1)},${members}}`
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

/** The pagination of a search, which knows the number of matches only if it examined everything. */
export function searchPagination(limit: number, count: number | null) {
  return {
    current_page: 1,
    total_pages: count === null ? null : Math.ceil(count / limit),
    total_count: count,
    per_page: limit,
  }
}
