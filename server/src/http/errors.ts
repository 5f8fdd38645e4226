import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { DomainError, type ErrorCode, invalid } from '../domain/errors.ts'
import type { Clock } from '../domain/time.ts'

const statusOf: Record<ErrorCode, number> = {
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  validation_error: 422,
  rate_limited: 429,
  internal_error: 500,
}

/** One for all: where too much is going on, not even an error is made for each. */
export const overloaded = new DomainError('internal_error', 'Too much is going on at once. Try again in a few seconds.')

export function errorBody({ code, message, details }: DomainError): string {
  return JSON.stringify({ error: { code, message, ...details } })
}

/** Turns whatever was thrown into the error body of the interface. What the caller did not cause is logged, not told. */
export function errorHandler(log: Logger, clock: Clock) {
  return (thrown: unknown, request: FastifyRequest, reply: FastifyReply) => {
    const error = asDomainError(thrown)
    if (error === overloaded) reply.header('Retry-After', 2)
    else if (error.code === 'internal_error') log.error({ requestId: request.id, err: thrown }, 'request failed')
    if (error.code === 'unauthorized') reply.header('WWW-Authenticate', 'Bearer')
    if (error.code === 'rate_limited') {
      const seconds = Math.ceil((Date.parse(String(error.details.resets_at)) - clock()) / 1_000)
      reply.header('Retry-After', Math.max(seconds, 1))
    }
    return reply.status(statusOf[error.code]).type('application/json; charset=utf-8').send(errorBody(error))
  }
}

const refusals: Record<string, string> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'The body is too large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'The header Content-Type must be application/json',
}

function asDomainError(thrown: unknown): DomainError {
  if (thrown instanceof DomainError) return thrown
  const { statusCode, code } = thrown as FastifyError
  // What the framework refuses by itself is about the request; the interface knows one code for that.
  if (statusCode !== undefined && statusCode < 500) return invalid(refusals[code] ?? (thrown as Error).message)
  return failure()
}

export function failure(): DomainError {
  return new DomainError('internal_error', 'Something went wrong on our side. Try again later.')
}
