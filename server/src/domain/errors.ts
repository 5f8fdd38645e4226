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

/** An outcome that the caller is meant to see: a code to branch on, a message to read, and extra fields where the code has any. */
export class DomainError extends Error {
  readonly code: ErrorCode
  readonly details: Record<string, string | number>

  constructor(code: ErrorCode, message: string, details: Record<string, string | number> = {}) {
    super(message)
    this.name = 'DomainError'
    this.code = code
    this.details = details
  }
}

export function unauthorized(): DomainError {
  return new DomainError('unauthorized', 'Send a valid API key in the header "Authorization: Bearer <API_KEY>".')
}

export function forbidden(role: string): DomainError {
  return new DomainError('forbidden', `A key of role ${role} may not do this.`)
}

export function notFound(): DomainError {
  return new DomainError('not_found', 'There is no such resource in your organisation.')
}

export function invalid(message: string): DomainError {
  return new DomainError('validation_error', message)
}
