import type { FromSchema } from 'json-schema-to-ts'
import { signalValues } from '../../domain/signal.ts'

const value = { enum: signalValues } as const
const metadata = {
  type: ['object', 'null'],
  description: "Arbitrary JSON object for the caller's own tracking, up to 16 KiB and 64 levels deep",
} as const
const created_at = { type: 'string', format: 'date-time', description: 'ISO 8601 UTC timestamp' } as const

export const newSignalSchema = { type: 'object', required: ['value'], properties: { value, metadata } } as const

export const importedSignalSchema = {
  type: 'object',
  required: ['value', 'created_at'],
  properties: { value, metadata, created_at },
} as const

export const signalSchema = {
  type: 'object',
  required: ['data'],
  properties: {
    data: {
      type: 'object',
      required: ['id', 'value', 'created_at'],
      properties: { id: { type: 'integer' }, value, created_at },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
} as const

export type NewSignalBody = FromSchema<typeof newSignalSchema>
