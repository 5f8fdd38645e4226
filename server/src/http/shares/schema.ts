import type { FromSchema } from 'json-schema-to-ts'
import { paginationExample, paginationSchema } from '../page-schema.ts'
import { promptId, promptIdExample } from '../prompts/id-schema.ts'
import { promptNameSchema } from '../regressions/schema.ts'

const time = { type: 'string', format: 'date-time' } as const

const terms = {
  regression_id: {
    type: ['integer', 'null'],
    description: 'The regression of the prompt that the link opens; null for the page of the prompt',
  },
  includes_signals: {
    type: 'boolean',
    description: 'Whether the link also shows signals, with their comments and metadata',
  },
} as const

export const newShareSchema = {
  title: 'NewShare',
  description: 'A link to create',
  type: 'object',
  properties: {
    regression_id: { ...terms.regression_id, default: null },
    includes_signals: { ...terms.includes_signals, default: false },
    expires_at: {
      type: ['string', 'null'],
      format: 'date-time',
      default: null,
      description: 'When the link expires, at most 90 days from now; null for 7 days',
    },
  },
  examples: [{ includes_signals: false }],
} as const

const shareExample = {
  id: 3,
  prompt: { id: promptIdExample, name: 'Support answers' },
  regression_id: null,
  includes_signals: false,
  hint: 'k3Zp',
  created_by: 'laptop',
  created_at: '2026-11-15T12:00:00.000Z',
  expires_at: '2026-11-22T12:00:00.000Z',
  revoked_at: null,
} as const

const shareSchema = {
  title: 'Share',
  description: 'A link to one prompt for people without a key, without its token',
  type: 'object',
  required: [
    'id',
    'prompt',
    'regression_id',
    'includes_signals',
    'hint',
    'created_by',
    'created_at',
    'expires_at',
    'revoked_at',
  ],
  properties: {
    id: { type: 'integer' },
    prompt: promptNameSchema,
    ...terms,
    hint: { type: 'string', description: 'The last four characters of the link' },
    created_by: { type: 'string', description: 'The name of the key that created it' },
    created_at: time,
    expires_at: time,
    revoked_at: {
      type: ['string', 'null'],
      format: 'date-time',
      description: 'When the link, or the key that created it, was revoked; null if neither was',
    },
  },
  additionalProperties: false,
} as const

const createdShareSchema = {
  ...shareSchema,
  title: 'CreatedShare',
  description: 'A new link',
  required: [...shareSchema.required, 'url'],
  properties: { ...shareSchema.properties, url: { type: 'string', description: 'The link itself, shown only once' } },
} as const

export const oneCreatedShareSchema = {
  type: 'object',
  required: ['data'],
  properties: { data: createdShareSchema },
  additionalProperties: false,
  description: 'The new link, shown only once',
  examples: [
    {
      data: {
        ...shareExample,
        url: 'https://ledger.example.com/shared#plv_000000000000000000000000000000000000000k3Zp',
      },
    },
  ],
} as const

export const sharePageSchema = {
  type: 'object',
  required: ['data', 'pagination'],
  properties: { data: { type: 'array', items: shareSchema }, pagination: paginationSchema },
  additionalProperties: false,
  description: 'One page of links, newest first',
  examples: [{ data: [shareExample], pagination: paginationExample(1) }],
} as const

export const shareParamsSchema = {
  type: 'object',
  required: ['prompt_id', 'share_id'],
  properties: {
    prompt_id: promptId,
    share_id: { type: 'integer', description: 'The ID of the link', examples: [shareExample.id] },
  },
} as const

export type NewShareBody = FromSchema<typeof newShareSchema>
export type ShareBody = FromSchema<typeof shareSchema>
