export interface Request {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** After /api/v1. */
  path: string
  query?: Record<string, string>
  key?: string
  /** A session's. */
  token?: string
  body?: string
  idempotencyKey?: string
}

export interface Prediction {
  status: number
  /** What the body has; `any` stands for what nobody can tell. Null where there is none. */
  body: unknown
  headers: Record<string, string>
  /** Takes in what only the service could tell. */
  learn?: (body: never) => void
}

export type Query = Record<string, string>

export const any = Symbol('anything')

export class Refused extends Error {
  status: number
  code: string
  extra: object
  headers: Record<string, string>

  constructor(status: number, code: string, extra: object = {}, headers: Record<string, string> = {}) {
    super(code)
    this.status = status
    this.code = code
    this.extra = extra
    this.headers = headers
  }
}

export const notFound = () => new Refused(404, 'not_found')
export const invalid = () => new Refused(422, 'validation_error')

export function refuse(refused: Refused): never {
  throw refused
}

export function ok(body: unknown): Prediction {
  return { status: 200, body, headers: {} }
}

export function done(): Prediction {
  return { status: 204, body: null, headers: {} }
}

/** The page that is asked for; what makes no sense is as if it were not there. */
export function page<Item>(all: Item[], query: Query): { data: Item[]; pagination: object } {
  const positive = (text: string | undefined) => (/^0*[1-9]\d*$/.test(text ?? '') ? Number(text) : undefined)
  const number = positive(query.page) ?? 1
  const size = Math.min(positive(query.limit) ?? 25, 100)
  return {
    data: all.slice((number - 1) * size, number * size),
    pagination: {
      current_page: number,
      total_pages: Math.ceil(all.length / size),
      total_count: all.length,
      per_page: size,
    },
  }
}

export function parsed(body: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    throw invalid()
  }
  if (!isObject(value)) throw invalid()
  return value
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function timeIn(text: string): number {
  const at = Date.parse(text)
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d.*Z$/.test(text) || Number.isNaN(at)) throw invalid()
  return at
}

export function spanIn(from: string | undefined, to: string | undefined): [number | null, number | null] {
  const span: [number | null, number | null] = [
    from === undefined ? null : timeIn(from),
    to === undefined ? null : timeIn(to),
  ]
  if (span[0] !== null && span[1] !== null && span[1] <= span[0]) throw invalid()
  return span
}
