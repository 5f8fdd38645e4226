import type { FromSchema } from 'json-schema-to-ts'
import { readerRoles } from '../server/src/domain/access/api-key.ts'
import { maxSegmentKeys } from '../server/src/domain/impact/reading/segment-keys.ts'
import { defineOperations } from './operation.ts'
import { promptParamsSchema } from './prompt-id.ts'
import { invalidSchema, object, one } from './schema.ts'

const keys = {
  type: 'array',
  items: { type: 'string' },
  description: `Up to ${maxSegmentKeys} keys of the metadata of signals, such as \`model\``,
} as const

const segmentKeysSchema = one(object({ keys }, { title: 'SegmentKeys' }), 'The declared keys', {
  keys: ['model', 'locale'],
})

const promptSegmentKeysSchema = one(
  object(
    {
      keys,
      source: {
        enum: ['prompt', 'organisation'],
        description: 'Whether the prompt declares its own keys, or uses those of the organisation',
      },
    },
    { title: 'PromptSegmentKeys' },
  ),
  'The keys that apply to the prompt',
  { keys: ['model', 'locale'], source: 'organisation' },
)

const newSegmentKeysSchema = {
  type: 'object',
  required: ['keys'],
  properties: { keys },
  examples: [{ keys: ['model', 'locale'] }],
} as const

const newPromptSegmentKeysSchema = {
  type: 'object',
  required: ['keys'],
  properties: {
    keys: { ...keys, type: ['array', 'null'], description: `${keys.description}. Null for those of the organisation` },
  },
  examples: [{ keys: ['model'] }],
} as const

export type NewSegmentKeysBody = FromSchema<typeof newSegmentKeysSchema>

export type NewPromptSegmentKeysBody = FromSchema<typeof newPromptSegmentKeysSchema>

const invalidKeys = invalidSchema('keys is required')

export const operations = defineOperations('Impact', {
  getSegments: {
    method: 'GET',
    path: '/api/v1/segments',
    client: 'segments.get',
    summary: 'Get the declared segments',
    description: 'The keys of the metadata that apply to every prompt without keys of its own.',
    roles: readerRoles,
    response: { 200: segmentKeysSchema },
  },

  declareSegments: {
    method: 'PUT',
    path: '/api/v1/segments',
    client: 'segments.declare',
    summary: 'Declare segments',
    description:
      'Replaces the keys of the metadata whose values divide signals into segments, such as `model` or `locale`. ' +
      'Verdicts then allow for a change in the audience, and `impact?by=metadata.model` judges each segment.',
    roles: ['admin'],
    body: newSegmentKeysSchema,
    response: { 200: segmentKeysSchema, 422: invalidKeys },
  },

  getPromptSegments: {
    method: 'GET',
    path: '/api/v1/prompts/:prompt_id/segments',
    client: 'segments.ofPrompt',
    summary: 'Get the segments of a prompt',
    roles: readerRoles,
    params: promptParamsSchema,
    response: { 200: promptSegmentKeysSchema },
  },

  declarePromptSegments: {
    method: 'PUT',
    path: '/api/v1/prompts/:prompt_id/segments',
    client: 'segments.declareForPrompt',
    summary: 'Declare the segments of a prompt',
    description: 'Replaces those of the organisation for this prompt. `null` returns to those of the organisation.',
    roles: ['admin'],
    params: promptParamsSchema,
    body: newPromptSegmentKeysSchema,
    response: { 200: promptSegmentKeysSchema, 422: invalidKeys },
  },
})
