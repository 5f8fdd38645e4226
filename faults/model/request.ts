import type { Model, Organisation, Prompt } from './state.ts'

export interface Request {
  method: 'GET' | 'POST' | 'DELETE'
  /** After /api/v1. */
  path: string
  query?: Query
  /** The secret of a key. */
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
  learn?: (body: never) => void
}

export const any = Symbol('any value')

/** An authenticated request. */
export interface Call {
  model: Model
  organisation: Organisation
  request: Request
  query: Query
  now: number
  /** In the path. */
  ids: string[]
  /** The prompt of the path, or 404. */
  prompt: Prompt
}

export function findPrompt({ prompts }: Organisation, id: string | undefined): Prompt {
  return prompts.find((prompt) => prompt.id === id) ?? notFound()
}

/** Ends a prediction with an error response. */
export class ErrorResponse extends Error {
  prediction: Prediction

  constructor(status: number, code: string, extra: object = {}, headers: Record<string, string> = {}) {
    super(code)
    this.prediction = { status, body: { error: { code, message: any, ...extra } }, headers }
  }
}

/** The prediction, or the error response that ends it. */
export function orError(predict: () => Prediction): Prediction {
  try {
    return predict()
  } catch (error) {
    if (error instanceof ErrorResponse) return error.prediction
    throw error
  }
}

export function reject(status: number, code: string): never {
  throw new ErrorResponse(status, code)
}

export const notFound = () => reject(404, 'not_found')
export const invalid = () => reject(422, 'validation_error')

export function ok<Body>(body: unknown, learn?: (body: Body) => void): Prediction {
  return { status: 200, body, headers: {}, ...(learn && { learn }) }
}

export function created<Body>(body: unknown, learn: (body: Body) => void): Prediction {
  return { status: 201, body, headers: {}, learn }
}

export function noContent(): Prediction {
  return { status: 204, body: null, headers: {} }
}
