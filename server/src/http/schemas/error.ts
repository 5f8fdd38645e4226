import { errorCodes } from '../../domain/errors.ts'

const message = { type: 'string', description: 'Human-readable description' } as const

export const errorBodySchema = {
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
