export interface PageRequest {
  /** Decimal digits rather than a number, so that a page past 2^53 is echoed exactly. */
  page: string
  limit: number
}

interface Pagination {
  currentPage: string
  totalPages: number
  totalCount: number
  perPage: number
}

const defaultLimit = 25
const maxLimit = 100
const digits = /^[0-9]+$/

/** Anything but a positive integer falls back to the default: page 1, 25 per page. A larger limit is capped at 100. */
export function pageRequest(page: string | undefined, limit: string | undefined): PageRequest {
  return { page: positiveDigits(page) ?? '1', limit: Math.min(Number(positiveDigits(limit) ?? defaultLimit), maxLimit) }
}

function positiveDigits(text: string | undefined): string | undefined {
  if (text === undefined || !digits.test(text)) return undefined
  const number = text.replace(/^0+/, '')
  return number === '' ? undefined : number
}

/** How many items come before this page. */
export function pageOffset(request: PageRequest): number {
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
