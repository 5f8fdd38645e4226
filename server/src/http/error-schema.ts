import { type ErrorCode, errorCodes } from '../domain/errors.ts'

export const message = { type: 'string', description: 'Human-readable description' } as const

export const errorBodySchema = {
  title: 'Error',
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: { code: { enum: errorCodes, description: 'Machine-readable error type' }, message },
    },
  },
} as const

/** The body of a response to more than a limit allows. */
export function limitedSchema<const Title extends string>(title: Title, limit: string, used: string, resetsAt: string) {
  return {
    title,
    type: 'object',
    required: ['error'],
    properties: {
      error: {
        type: 'object',
        required: ['code', 'message', 'limit', 'used', 'resets_at'],
        properties: {
          code: { const: 'rate_limited' },
          message,
          limit: { type: 'integer', description: limit },
          used: { type: 'integer', description: used },
          resets_at: { type: 'string', format: 'date-time', description: resetsAt },
        },
      },
    },
  } as const
}

export const rateLimitedBodySchema = limitedSchema(
  'RateLimited',
  "The plan's monthly signal limit",
  'Signals recorded in the current month',
  'When the counter resets',
)

/** The error body with an example message specific to one operation. */
export function errorSchema(code: ErrorCode, message: string) {
  return { ...errorBodySchema, examples: [{ error: { code, message } }] }
}

/** The response of every operation to a request that is not valid HTTP. */
export const malformedRequestSchema = errorSchema('validation_error', 'The headers are too large')

/** The response of an operation without a body to a body that is not JSON: bodies are parsed before it is known that none is needed. */
export const unexpectedBodySchema = errorSchema('validation_error', 'The header Content-Type must be application/json')

/** The response to a query parameter that is not a time. */
export function invalidTimeSchema(parameter: string) {
  return errorSchema(
    'validation_error',
    `${parameter} must be an ISO 8601 time with a time zone, such as 2026-11-15T09:30:00.000Z`,
  )
}
