import type { FastifyError } from 'fastify'
import type { Logger } from 'pino'
import { DomainError, type ErrorCode, InvalidFieldError, invalid, UnavailableError } from '../domain/errors.ts'
import { LimitError } from '../domain/limit-error.ts'
import { AmbiguousPromptError } from '../domain/prompt-reference.ts'
import { ProposalError } from '../domain/proposals/proposal.ts'
import { InboxFullError } from '../domain/repositories/delivery.ts'
import { type Clock, type Instant, isoTime } from '../domain/time.ts'
import { TrialRunsError } from '../domain/trials/trial.ts'
import { type Answer, json } from './answer.ts'

export const statusOf: Record<ErrorCode, number> = {
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  validation_error: 422,
  rate_limited: 429,
  internal_error: 500,
}

// Single instances, so that rejecting a request under overload does not even allocate an error.
export const overloaded = new UnavailableError('The service is overloaded. Retry in a few seconds.')
export const organisationOverloaded = new UnavailableError(
  'Too many requests of this key or organisation are in flight. Retry in a few seconds.',
)

export function unauthorized(): DomainError {
  return new DomainError(
    'unauthorized',
    'The API key is missing or not valid. Send one in the header "Authorization: Bearer <API_KEY>".',
  )
}

const sessionEndings = {
  key_revoked: 'The key of this session was revoked. Sign in with another key.',
  disabled: 'An admin has disabled your access.',
  expired: 'The session has expired. Sign in again.',
}

const shareEndings = {
  revoked: 'This link was revoked. Ask for a new one.',
  expired: 'This link has expired. Ask for a new one.',
}

/** Why a session or a share link ended. Only a request with its secret, which no one can guess, is told. */
class EndedError extends DomainError {
  readonly reason: string

  constructor(reason: string, message: string) {
    super('unauthorized', message)
    this.reason = reason
  }
}

export function endedSession(reason: keyof typeof sessionEndings): EndedError {
  return new EndedError(reason, sessionEndings[reason])
}

export function endedShare(reason: keyof typeof shareEndings): EndedError {
  return new EndedError(reason, shareEndings[reason])
}

export function notShared(): DomainError {
  return new DomainError('forbidden', 'This link does not show this.')
}

export function forbidden(role: string): DomainError {
  return new DomainError('forbidden', `Keys with the role ${role} are not allowed to do this.`)
}

export function notFound(): DomainError {
  return new DomainError(
    'not_found',
    'Not found. Check the URL and the HTTP method; a key can only access its own organisation.',
  )
}

export function internalError(): DomainError {
  return new DomainError('internal_error', 'Internal error. Retry later.')
}

export function errorBody(error: DomainError): string {
  const details = detailsOf(error)
  return JSON.stringify({ error: { code: error.code, message: errorMessage(error), ...details } })
}

function detailsOf(error: DomainError): object | undefined {
  if (error instanceof LimitError) {
    return { limit: error.limit, used: error.used, resets_at: isoTime(error.resetsAt) }
  }
  if (error instanceof EndedError) return { reason: error.reason }
  if (error instanceof ProposalError) {
    return { problem: error.problem, commands: error.commands, ...(error.trialId && { trial_id: error.trialId }) }
  }
  if (error instanceof TrialRunsError) return { trial_id: error.trialId }
  return error instanceof AmbiguousPromptError ? { prompt_ids: error.ids } : undefined
}

/** The message with the name that the API knows the invalid field by, such as `commit_sha`. */
export function errorMessage(error: DomainError): string {
  return error instanceof InvalidFieldError ? `${wireName(error.field)} ${error.problem}` : error.message
}

function wireName(field: string): string {
  if (field === 'idempotencyKey') return 'The header Idempotency-Key'
  return field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

const inboxRetryAfterSeconds = 60

/** Turns anything thrown into an error response. Internal causes are logged and never sent to the client. */
export function errorAnswers(log: Logger, clock: Clock): (thrown: unknown, requestId: string) => Answer {
  return (thrown, requestId) => {
    const error = asDomainError(thrown)
    const headers: Answer['headers'] = {}
    if (error instanceof UnavailableError) headers['retry-after'] = 2
    else if (error instanceof InboxFullError) headers['retry-after'] = inboxRetryAfterSeconds
    else if (error.code === 'internal_error') log.error({ requestId, err: thrown }, 'request failed')
    if (error.code === 'unauthorized') headers['www-authenticate'] = 'Bearer'
    if (error instanceof LimitError) headers['retry-after'] = secondsUntilReset(error.resetsAt, clock())
    return { status: statusOf[error.code], headers: Object.assign(headers, json), body: errorBody(error) }
  }
}

/** For `Retry-After` and `RateLimit-Reset`. */
export function secondsUntilReset(resetsAt: Instant, now: Instant): number {
  return Math.max(1, Math.ceil((resetsAt - now) / 1_000))
}

const tooLarge = 'The body is too large'

export function bodyTooLarge(): DomainError {
  return invalid(tooLarge)
}

const frameworkMessages: Record<string, string> = {
  FST_ERR_CTP_BODY_TOO_LARGE: tooLarge,
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'The header Content-Type must be application/json',
}

export function asDomainError(thrown: unknown): DomainError {
  if (thrown instanceof DomainError) return thrown
  const { statusCode, code } = thrown as FastifyError
  // A request that Fastify itself rejects is invalid input; the API has one code for that.
  if (statusCode !== undefined && statusCode < 500) return invalid(frameworkMessages[code] ?? (thrown as Error).message)
  return internalError()
}
