import type { WireErrorCode } from './types.ts'

/** The error codes of the API, and those of failures that the API never saw. */
export type ErrorCode =
  | WireErrorCode
  | 'connection_failed'
  | 'timeout'
  | 'unexpected_response'
  | 'queue_full'
  | 'queue_closed'

export interface ErrorFields {
  code: ErrorCode
  status?: number | null
  requestId?: string | null | undefined
  details?: Record<string, unknown>
  cause?: unknown
}

/** The error of every failed call, except for calls that their caller aborts: these reject with the signal's reason. */
export class PromptledgerError extends Error {
  override name = 'PromptledgerError'
  /** HTTP status of the response, or null without a response. */
  readonly status: number | null
  readonly code: ErrorCode
  /** Identifies the request in the service's log. Null without a response. */
  readonly requestId: string | null
  /** Further fields of the error body, under the names that the API gives them. */
  readonly details: Readonly<Record<string, unknown>>

  constructor(message: string, { code, status = null, requestId = null, details = {}, cause }: ErrorFields) {
    super(message, cause === undefined ? undefined : { cause })
    this.status = status
    this.code = code
    this.requestId = requestId
    this.details = details
  }
}

/** The API key is missing, malformed, unknown, revoked or expired, or the session has ended. */
export class UnauthorizedError extends PromptledgerError {
  override name = 'UnauthorizedError'
}

/** The role of the API key does not allow this operation. */
export class ForbiddenError extends PromptledgerError {
  override name = 'ForbiddenError'
}

/** The resource does not exist in the organisation. */
export class NotFoundError extends PromptledgerError {
  override name = 'NotFoundError'
}

/** The operation conflicts with the current state of the resource. */
export class ConflictError extends PromptledgerError {
  override name = 'ConflictError'
}

/** The request is invalid. The message says what is wrong, and where. */
export class ValidationError extends PromptledgerError {
  override name = 'ValidationError'
}

/** A limit was hit: the monthly limit of signals, or the test messages that an organisation may send in a minute. */
export class RateLimitedError extends PromptledgerError {
  override name = 'RateLimitedError'
  /** How many the limit allows. */
  readonly limit: number
  /** How many were used. */
  readonly used: number
  /** When the count resets. */
  readonly resetsAt: Date

  constructor(message: string, fields: ErrorFields) {
    super(message, fields)
    this.limit = Number(this.details.limit)
    this.used = Number(this.details.used)
    this.resetsAt = new Date(String(this.details.resets_at))
  }
}

/** The connection failed before a complete response arrived. The service may still have processed the request. */
export class ConnectionError extends PromptledgerError {
  override name = 'ConnectionError'

  constructor(message: string, cause?: unknown) {
    super(message, { code: 'connection_failed', cause })
  }
}

/** No response arrived within the timeout. The service may still have processed the request. */
export class TimeoutError extends PromptledgerError {
  override name = 'TimeoutError'

  constructor(timeoutMs: number) {
    super(`No response within ${timeoutMs} ms`, { code: 'timeout' })
  }
}

const errorClasses: Partial<Record<string, new (message: string, fields: ErrorFields) => PromptledgerError>> = {
  unauthorized: UnauthorizedError,
  forbidden: ForbiddenError,
  not_found: NotFoundError,
  conflict: ConflictError,
  validation_error: ValidationError,
  rate_limited: RateLimitedError,
}

/** The error in a body. */
export interface WireError {
  code: string
  message: string
}

/** The error for a response whose status is not 2xx. */
export function errorFromResponse(status: number, requestId: string | null, text: string): PromptledgerError {
  const error = parseErrorBody(text)
  if (error !== null) return errorFromBody(error, status, requestId)
  // A proxy or another server responded, so the status says nothing about Promptledger.
  return new PromptledgerError(`Status ${status} without a Promptledger error body: check baseUrl and any proxy`, {
    code: 'unexpected_response',
    status,
    requestId,
  })
}

export function errorFromBody(error: WireError, status: number, requestId?: string | null): PromptledgerError {
  const { code, message, ...details } = error
  return new (errorClasses[code] ?? PromptledgerError)(message, { code: code as ErrorCode, status, requestId, details })
}

function parseErrorBody(text: string): WireError | null {
  try {
    const { error } = JSON.parse(text)
    return typeof error.code === 'string' ? error : null
  } catch {
    return null
  }
}
