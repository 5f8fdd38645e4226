import { DomainError, invalid, MonthlyLimitError } from '../../domain/errors.ts'
import { errorBodySchema, rateLimitedBodySchema } from '../error-schema.ts'
import { errorBody, forbidden, internalError, notFound, unauthorized } from '../errors.ts'
import type { Header, Schema } from './openapi-document.ts'

/** What a status means wherever it is answered. */
export interface ErrorResponse {
  name: string
  description: string
  schema: Schema
  headers?: Record<string, Header>
  example: unknown
}

export const errorResponses: Record<string, ErrorResponse> = {
  401: {
    name: 'Unauthorized',
    description: 'The key or session is missing, malformed, unknown, revoked, ended or expired: one answer for all.',
    schema: errorBodySchema,
    headers: {
      'WWW-Authenticate': { description: 'The scheme to use', schema: { const: 'Bearer', type: 'string' } },
    },
    example: bodyOf(unauthorized()),
  },
  403: {
    name: 'Forbidden',
    description: "The key's role does not allow this, or a session was used from a page of another origin.",
    schema: errorBodySchema,
    example: bodyOf(forbidden('ingest')),
  },
  404: {
    name: 'NotFound',
    description: 'There is no such thing in your organisation.',
    schema: errorBodySchema,
    example: bodyOf(notFound()),
  },
  409: {
    name: 'Conflict',
    description: 'It does not go together with what is there.',
    schema: errorBodySchema,
    example: bodyOf(new DomainError('conflict', 'This repository is disconnected.')),
  },
  422: {
    name: 'Invalid',
    description: 'The message says what is wrong and where. Also for a wrong Content-Type and an oversized body.',
    schema: errorBodySchema,
    example: bodyOf(invalid('The body is empty: send a JSON object')),
  },
  429: {
    name: 'RateLimited',
    description: 'The monthly limit is reached. Nothing was recorded.',
    schema: rateLimitedBodySchema,
    headers: {
      'Retry-After': { description: 'Seconds until the counter resets', schema: { type: 'integer' } },
    },
    example: bodyOf(new MonthlyLimitError(1_000, 1_000, Date.UTC(2026, 11))),
  },
  500: {
    name: 'InternalError',
    description: 'Our failure. Nothing was stored; the log has the cause under the request id.',
    schema: errorBodySchema,
    example: bodyOf(internalError()),
  },
}

function bodyOf(error: DomainError): unknown {
  return JSON.parse(errorBody(error))
}
