/** What the service says went wrong. */
export type WireErrorCode =
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'validation_error'
  | 'rate_limited'
  | 'internal_error'

/** The service's codes, and what can go wrong on the way to it. */
export type ErrorCode =
  | WireErrorCode
  | 'connection_failed'
  | 'timeout'
  | 'unexpected_answer'
  | 'queue_full'
  | 'queue_closed'

export interface ErrorFacts {
  code: ErrorCode
  status?: number | null
  requestId?: string | null
  details?: Record<string, unknown>
  cause?: unknown
}

/** Whatever a call can fail with, except for the reason of the caller's own AbortSignal. */
export class PromptledgerError extends Error {
  override name = 'PromptledgerError'
  /** The status of the answer; null where there was none. */
  readonly status: number | null
  readonly code: ErrorCode
  /** Under which the service's log knows the request; null where there was no answer. */
  readonly requestId: string | null
  /** What the service said beside code and message, by its own names. */
  readonly details: Readonly<Record<string, unknown>>

  constructor(message: string, { code, status = null, requestId = null, details = {}, cause }: ErrorFacts) {
    super(message, cause === undefined ? undefined : { cause })
    this.status = status
    this.code = code
    this.requestId = requestId
    this.details = details
  }
}

/** The key is missing, malformed, unknown, revoked or expired; or the session has ended. */
export class UnauthorizedError extends PromptledgerError {
  override name = 'UnauthorizedError'
}

/** The key's role does not allow this. */
export class ForbiddenError extends PromptledgerError {
  override name = 'ForbiddenError'
}

/** There is no such thing in the organisation. */
export class NotFoundError extends PromptledgerError {
  override name = 'NotFoundError'
}

/** The thing is not in a state for this. */
export class ConflictError extends PromptledgerError {
  override name = 'ConflictError'
}

/** The message says what is wrong with the request, and where. */
export class ValidationError extends PromptledgerError {
  override name = 'ValidationError'
}

/** The organisation's signals of this month are used up. */
export class RateLimitedError extends PromptledgerError {
  override name = 'RateLimitedError'
  readonly limit: number
  readonly used: number
  readonly resetsAt: Date

  constructor(message: string, facts: ErrorFacts) {
    super(message, facts)
    this.limit = Number(this.details.limit)
    this.used = Number(this.details.used)
    this.resetsAt = new Date(String(this.details.resets_at))
  }
}

/** No answer, or one that broke off. The request may have arrived all the same. */
export class ConnectionError extends PromptledgerError {
  override name = 'ConnectionError'

  constructor(message: string, cause?: unknown) {
    super(message, { code: 'connection_failed', cause })
  }
}

/** No answer in time. The request may have arrived all the same. */
export class TimeoutError extends PromptledgerError {
  override name = 'TimeoutError'

  constructor(timeout: number) {
    super(`No answer within ${timeout} ms`, { code: 'timeout' })
  }
}

const classes: Partial<Record<string, new (message: string, facts: ErrorFacts) => PromptledgerError>> = {
  unauthorized: UnauthorizedError,
  forbidden: ForbiddenError,
  not_found: NotFoundError,
  conflict: ConflictError,
  validation_error: ValidationError,
  rate_limited: RateLimitedError,
}

/** What an answer that is no success is thrown as. */
export function refusal(status: number, requestId: string | null, text: string): PromptledgerError {
  const said = errorOf(text)
  if (said === null) {
    // A proxy, a wrong address: nothing here tells what the service itself would have said.
    return new PromptledgerError(`Status ${status} from something that is not Promptledger: is baseUrl right?`, {
      code: 'unexpected_answer',
      status,
      requestId,
    })
  }
  const { code, message, ...details } = said
  return new (classes[code] ?? PromptledgerError)(message, { code: code as ErrorCode, status, requestId, details })
}

function errorOf(text: string): { code: string; message: string } | null {
  try {
    const { error } = JSON.parse(text)
    return typeof error.code === 'string' ? error : null
  } catch {
    return null
  }
}
