import Type from 'typebox'
import { errorCodes } from '../../domain/errors.ts'

export const ErrorBody = Type.Object({
  error: Type.Object(
    {
      code: Type.Enum(errorCodes, { description: 'Machine-readable error type' }),
      message: Type.String({ description: 'Human-readable description' }),
    },
    { additionalProperties: true },
  ),
})

export const RateLimitedBody = Type.Object({
  error: Type.Object({
    code: Type.Literal('rate_limited'),
    message: Type.String({ description: 'Human-readable description' }),
    limit: Type.Integer({ description: "The plan's monthly signal limit" }),
    used: Type.Integer({ description: 'Signals recorded in the current month' }),
    resets_at: Type.String({ format: 'date-time', description: 'When the counter resets' }),
  }),
})
