import type { FromSchema } from 'json-schema-to-ts'
import { maxSegmentKeys } from '../../domain/impact/segment-keys.ts'

const keys = {
  type: 'array',
  items: { type: 'string' },
  description: `Up to ${maxSegmentKeys} keys of the metadata of signals, such as \`model\``,
} as const

export const segmentKeysSchema = {
  type: 'object',
  required: ['data'],
  properties: {
    data: {
      title: 'SegmentKeys',
      type: 'object',
      required: ['keys'],
      properties: { keys },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
  description: 'The declared keys',
  examples: [{ data: { keys: ['model', 'locale'] } }],
} as const

export const promptSegmentKeysSchema = {
  type: 'object',
  required: ['data'],
  properties: {
    data: {
      title: 'PromptSegmentKeys',
      type: 'object',
      required: ['keys', 'source'],
      properties: {
        keys,
        source: {
          enum: ['prompt', 'organisation'],
          description: 'Whether the prompt declares its own keys, or uses those of the organisation',
        },
      },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
  description: 'The keys that apply to the prompt',
  examples: [{ data: { keys: ['model', 'locale'], source: 'organisation' } }],
} as const

export const newSegmentKeysSchema = {
  type: 'object',
  required: ['keys'],
  properties: { keys },
  examples: [{ keys: ['model', 'locale'] }],
} as const

export const newPromptSegmentKeysSchema = {
  type: 'object',
  required: ['keys'],
  properties: {
    keys: { ...keys, type: ['array', 'null'], description: `${keys.description}. Null for those of the organisation` },
  },
  examples: [{ keys: ['model'] }],
} as const

export type NewSegmentKeysBody = FromSchema<typeof newSegmentKeysSchema>
export type NewPromptSegmentKeysBody = FromSchema<typeof newPromptSegmentKeysSchema>
