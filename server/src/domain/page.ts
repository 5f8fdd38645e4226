export interface PageRequest {
  /** As asked, in digits: it is repeated in the answer however large it is. */
  page: string
  limit: number
}

export interface Pagination {
  currentPage: string
  totalPages: number
  totalCount: number
  perPage: number
}

const defaultLimit = 25
const largestLimit = 100
const digits = /^[0-9]+$/

/** Reads what was asked for; what makes no sense falls back to the default, since the operation has no 422. */
export function pageRequest(page: string | undefined, limit: string | undefined): PageRequest {
  return { page: positive(page) ?? '1', limit: Math.min(Number(positive(limit) ?? defaultLimit), largestLimit) }
}

function positive(text: string | undefined): string | undefined {
  if (text === undefined || !digits.test(text)) return undefined
  const number = text.replace(/^0+/, '')
  return number === '' ? undefined : number
}

/** How many of the newest entries come before this page. */
export function entriesBefore(request: PageRequest): number {
  return Math.min((Number(request.page) - 1) * request.limit, Number.MAX_SAFE_INTEGER)
}

export function pagination(request: PageRequest, totalCount: number): Pagination {
  return {
    currentPage: request.page,
    totalPages: Math.ceil(totalCount / request.limit),
    totalCount,
    perPage: request.limit,
  }
}
