import type { IncomingHttpHeaders } from 'node:http'
import type { Key, Model, Organisation, Prompt } from './state.ts'

export interface Request {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** After /api/v1. */
  path: string
  query?: Query
  /** The secret of a key, or the cookie of a session. */
  key: string
  body?: string
  idempotencyKey?: string
}

export type Query = Record<string, string>

/** The response the service must give. */
export interface Prediction {
  status: number
  /** Null for none. `any` stands for values that only the service knows. */
  body: unknown
  headers: Record<string, string>
  /** Takes in those values. */
  learn?: (body: never, headers: IncomingHttpHeaders) => void
}

export const any = Symbol('any value')
/** The name of a member that allows an object to have members that the model does not predict. */
export const others = Symbol('other members')

/** An authenticated request. */
export interface Call {
  model: Model
  organisation: Organisation
  /** The key that acts, itself or through a session. */
  key: Key
  request: Request
  query: Query
  now: number
  /** The path's parameters. */
  id: string
  partId: string
  /** The prompt with this id, or 404. A key that is limited to others does not see it. */
  prompt: Prompt
  /** The same for the prompt with this id or name. */
  promptNamed(reference: string): Prompt
}

/** Ends a prediction with an error response. */
export class ErrorResponse extends Error {
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

/** The response to an error that ends a prediction. */
export function errorPrediction(error: unknown): Prediction {
  if (!(error instanceof ErrorResponse)) throw error
  const { status, code, extra, headers } = error
  return { status, body: { error: { code, message: any, ...extra } }, headers }
}

export function reject(status: number, code: string): never {
  throw new ErrorResponse(status, code)
}

/** Browsers send the token of a session as name=token. */
export function isCookie(key: string): boolean {
  return key.includes('=')
}

export const notFound = () => reject(404, 'not_found')
export const invalid = () => reject(422, 'validation_error')

export function ok<Body>(body: unknown, learn?: (body: Body) => void): Prediction {
  return { status: 200, body, headers: {}, ...(learn && { learn }) }
}

export function noContent(): Prediction {
  return { status: 204, body: null, headers: {} }
}

export function created<Body>(body: unknown, learn?: (body: Body, headers: IncomingHttpHeaders) => void): Prediction {
  return { status: 201, body, headers: {}, ...(learn && { learn }) }
}

/** One page. Malformed parameters count as absent. */
export function page<Item>(items: Item[], query: Query): { data: Item[]; pagination: object } {
  const positive = (text: string | undefined) => (/^0*[1-9]\d*$/.test(text ?? '') ? Number(text) : undefined)
  const current = positive(query.page) ?? 1
  const size = Math.min(positive(query.limit) ?? 25, 100)
  return {
    data: items.slice((current - 1) * size, current * size),
    pagination: {
      current_page: current,
      total_pages: Math.ceil(items.length / size),
      total_count: items.length,
      per_page: size,
    },
  }
}

export function parseObject(text = ''): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    invalid()
  }
  return isObject(value) ? value : invalid()
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function parseTime(text: string): number {
  const at = Date.parse(text)
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d.*Z$/.test(text) && !Number.isNaN(at) ? at : invalid()
}

/** Whether a time lies in the range of a query, which is open at an end that is not given. */
export function parseRange(from: string | undefined, to: string | undefined): (at: number) => boolean {
  const start = from === undefined ? Number.NEGATIVE_INFINITY : parseTime(from)
  const end = to === undefined ? Number.POSITIVE_INFINITY : parseTime(to)
  if (end <= start) invalid()
  return (at) => start <= at && at < end
}
