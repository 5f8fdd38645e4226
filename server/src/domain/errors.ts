export const errorCodes = [
  'unauthorized',
  'forbidden',
  'not_found',
  'conflict',
  'validation_error',
  'rate_limited',
  'internal_error',
] as const

export type ErrorCode = (typeof errorCodes)[number]

/** A failure the caller is meant to see: a code to branch on and a message to read. */
export class DomainError extends Error {
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string) {
    super(message)
    this.name = 'DomainError'
    this.code = code
  }
}

/** The service cannot take a request at the moment: not logged as a failure, and worth another attempt. */
export class UnavailableError extends DomainError {
  constructor(message: string) {
    super('internal_error', message)
  }
}

export const signalsUnavailable = new UnavailableError(
  'The database server with the signals of this organisation does not respond. Retry in a few seconds.',
)

/**
 * One input field is invalid. `field` is a path in domain naming (`user.name`, `commitSha`) and `problem` completes the
 * sentence, so the API and the CLI can each show the name that their users know the field by.
 */
export class InvalidFieldError extends DomainError {
  readonly field: string
  readonly problem: string

  constructor(field: string, problem: string) {
    super('validation_error', `${field} ${problem}`)
    this.field = field
    this.problem = problem
  }
}

/** For input that is wrong as a whole. Use `invalidField` where one field is to blame. */
export function invalid(message: string): DomainError {
  return new DomainError('validation_error', message)
}

export function invalidField(field: string, problem: string): InvalidFieldError {
  return new InvalidFieldError(field, problem)
}
