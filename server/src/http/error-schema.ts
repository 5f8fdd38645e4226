import { type ErrorCode, errorCodes } from '../domain/errors.ts'

const message = { type: 'string', description: 'Human-readable description' } as const

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

export const rateLimitedBodySchema = {
  title: 'RateLimited',
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'limit', 'used', 'resets_at'],
      properties: {
        code: { const: 'rate_limited' },
        message,
        limit: { type: 'integer', description: "The plan's monthly signal limit" },
        used: { type: 'integer', description: 'Signals recorded in the current month' },
        resets_at: { type: 'string', format: 'date-time', description: 'When the counter resets' },
      },
    },
  },
} as const

/** The error body with a message that the operation in question gives. */
export function errorSchema(code: ErrorCode, message: string) {
  return { ...errorBodySchema, examples: [{ error: { code, message } }] }
}

/** What every operation answers to a request that is no proper HTTP. */
export const malformedSchema = errorSchema('validation_error', 'The headers are too large')

/** What an operation without a body answers to one that is no JSON: bodies are read before anybody sees that nothing was asked for. */
export const noBodySchema = errorSchema('validation_error', 'The header Content-Type must be application/json')
