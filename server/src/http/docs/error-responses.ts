import { errorBodySchema, rateLimitedBodySchema } from '../../../../contract/schema.ts'
import { DomainError, invalid } from '../../domain/errors.ts'
import { MonthlyLimitError } from '../../domain/signals/monthly-limit.ts'

import { errorBody, forbidden, internalError, notFound, unauthorized } from '../errors.ts'
import type { Header, Schema } from './openapi-document.ts'

/** The meaning of a status, shared by all operations that use it. */
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
    description:
      'The key or session is missing, malformed, unknown, revoked, ended or expired. The response is the same in all cases, except that the cookie of an ended session is told why it ended.',
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
    description: 'The resource does not exist in your organisation, or the path or method is unknown.',
    schema: errorBodySchema,
    example: bodyOf(notFound()),
  },
  409: {
    name: 'Conflict',
    description: "Conflicts with the resource's current state.",
    schema: errorBodySchema,
    example: bodyOf(new DomainError('conflict', 'This repository is disconnected. Connect it again first.')),
  },
  422: {
    name: 'Invalid',
    description:
      'The request is not valid; the message says what is wrong and where. Also for a wrong Content-Type and an oversized body.',
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
    description:
      'The service failed. Treat the request as not stored; the log has the cause under the request ID. If `Retry-After` is set, the service is overloaded.',
    schema: errorBodySchema,
    example: bodyOf(internalError()),
  },
}

function bodyOf(error: DomainError): unknown {
  return JSON.parse(errorBody(error))
}
