import type { FromSchema } from 'json-schema-to-ts'
import { maxLabelLength } from '../../domain/signals/version.ts'

export const erasureSchema = {
  title: 'Erasure',
  description: 'Which signals to erase',
  type: 'object',
  properties: {
    metadata: { type: 'object', description: 'Members that the metadata of a signal must have: 1 to 16' },
    voter: {
      type: 'string',
      minLength: 1,
      maxLength: maxLabelLength,
      description: 'Who voted, as in the field `voter` of a signal. It is hashed on arrival',
    },
    subject: {
      type: 'string',
      minLength: 1,
      maxLength: maxLabelLength,
      description: 'What was voted on, in any prompt. Withdrawn votes are erased and counted, too',
    },
  },
  examples: [{ metadata: { user: 'u-123' } }, { voter: 'u-123' }],
} as const

export const erasedSchema = {
  type: 'object',
  required: ['data'],
  properties: {
    data: {
      type: 'object',
      required: ['erased'],
      properties: { erased: { type: 'integer', description: 'Number of erased signals' } },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
  description: 'The signals are erased',
  examples: [{ data: { erased: 42 } }],
} as const

export const erasurePreviewSchema = {
  type: 'object',
  required: ['data'],
  properties: {
    data: {
      title: 'ErasurePreview',
      type: 'object',
      required: ['matching'],
      properties: { matching: { type: 'integer', description: 'Number of signals that would be erased' } },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
  description: 'The number of signals',
  examples: [{ data: { matching: 42 } }],
} as const

export type ErasureBody = FromSchema<typeof erasureSchema>
