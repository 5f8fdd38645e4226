import type { FromSchema } from 'json-schema-to-ts'
import { roles } from '../../domain/access/api-key.ts'
import { paginationExample, paginationSchema } from '../page-schema.ts'

const timeOrNull = { type: ['string', 'null'], format: 'date-time' } as const

const terms = {
  name: { type: 'string', description: 'To tell it from others' },
  role: { enum: roles, description: 'What it may do' },
  expires_at: { ...timeOrNull, description: 'When it stops working by itself; null for never' },
} as const

export const newKeySchema = {
  title: 'NewKey',
  type: 'object',
  properties: {
    name: { ...terms.name, default: 'unnamed' },
    role: { ...terms.role, default: 'standard' },
    expires_at: { ...terms.expires_at, default: null },
  },
  examples: [{ name: 'support bot', role: 'ingest' }],
} as const

const issuedExample = {
  id: 12,
  organisation_id: 1,
  name: 'support bot',
  role: 'ingest',
  created_at: '2026-11-15T12:00:00.000Z',
  expires_at: null,
} as const

const key = {
  id: { type: 'integer' },
  organisation_id: { type: 'integer' },
  ...terms,
  created_at: { type: 'string', format: 'date-time' },
} as const

const keySchema = {
  title: 'Key',
  type: 'object',
  required: ['id', 'organisation_id', 'name', 'role', 'hint', 'created_at', 'expires_at', 'revoked_at', 'last_used_at'],
  properties: {
    ...key,
    hint: { type: 'string', description: 'The last four characters of the key' },
    revoked_at: { ...timeOrNull, description: 'Since when it is refused' },
    last_used_at: { ...timeOrNull, description: 'When it was last used, a few seconds late at most' },
  },
  additionalProperties: false,
} as const

const issuedKey = {
  title: 'IssuedKey',
  type: 'object',
  required: ['id', 'key', 'organisation_id', 'name', 'role', 'created_at', 'expires_at'],
  properties: { ...key, key: { type: 'string', description: 'The key itself. Shown this once' } },
  additionalProperties: false,
} as const

export const keyPageSchema = {
  type: 'object',
  required: ['data', 'pagination'],
  properties: { data: { type: 'array', items: keySchema }, pagination: paginationSchema },
  additionalProperties: false,
  description: 'The keys of the page',
  examples: [
    {
      data: [{ ...issuedExample, hint: 'x7Qa', revoked_at: null, last_used_at: '2026-11-15T12:05:00.000Z' }],
      pagination: paginationExample(1),
    },
  ],
} as const

export const issuedKeySchema = {
  type: 'object',
  required: ['data'],
  properties: { data: issuedKey },
  additionalProperties: false,
  description: 'The new key, shown this once',
  examples: [{ data: { ...issuedExample, key: 'plk_0000000000000000000000000000000000000000000x7Qa' } }],
} as const

const hoursInYear = 8_760

// Without a body, everything is as usual.
export const rotationSchema = {
  type: ['object', 'null'],
  properties: {
    overlap_hours: {
      type: 'integer',
      minimum: 0,
      maximum: hoursInYear,
      default: 24,
      description: 'How long the old key works on',
    },
  },
  examples: [{ overlap_hours: 48 }],
} as const

export const keyParamsSchema = {
  type: 'object',
  required: ['key_id'],
  properties: { key_id: { type: 'integer', description: 'The id of the key', examples: [issuedExample.id] } },
} as const

export type NewKeyBody = FromSchema<typeof newKeySchema>
export type KeyBody = FromSchema<typeof keySchema>
export type IssuedKeyBody = FromSchema<typeof issuedKey>
export interface RotationBody {
  overlap_hours?: number
}
