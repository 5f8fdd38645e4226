import type { FromSchema } from 'json-schema-to-ts'
import { roles } from '../../domain/access/api-key.ts'
import { paginationExample, paginationSchema } from '../page-schema.ts'

const timeOrNull = { type: ['string', 'null'], format: 'date-time' } as const

const terms = {
  name: { type: 'string', description: 'A label that identifies the key' },
  role: {
    enum: roles,
    description:
      '`ingest` records signals, `recorder` records history entries, `reader` reads, `standard` records signals, reads and ' +
      'deletes signals, `admin` does everything. `signing` makes no requests: it signs tokens for votes from browsers',
  },
  prompts: {
    type: ['string', 'null'],
    description:
      'A glob: the key is limited to prompts whose name or path matches, and all others do not exist for it; null for every ' +
      'prompt. `*` stands for anything within a folder, `**` for any number of folders',
  },
  expires_at: { ...timeOrNull, description: 'When the key expires; null for never' },
} as const

export const newKeySchema = {
  title: 'NewKey',
  description: 'A key to create',
  type: 'object',
  properties: {
    name: { ...terms.name, default: 'unnamed' },
    role: { ...terms.role, default: 'standard' },
    prompts: { ...terms.prompts, default: null },
    expires_at: { ...terms.expires_at, default: null },
  },
  examples: [{ name: 'support bot', role: 'ingest', prompts: 'prompts/support/**' }],
} as const

const issuedExample = {
  id: 12,
  organisation_id: 1,
  name: 'support bot',
  role: 'ingest',
  prompts: 'prompts/support/**',
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
  description: 'An API key, without its secret',
  type: 'object',
  required: [
    'id',
    'organisation_id',
    'name',
    'role',
    'prompts',
    'hint',
    'created_at',
    'expires_at',
    'revoked_at',
    'last_used_at',
  ],
  properties: {
    ...key,
    hint: { type: 'string', description: 'The last four characters of the key' },
    revoked_at: { ...timeOrNull, description: 'When the key was revoked; null if it was not' },
    last_used_at: { ...timeOrNull, description: 'When the key was last used, accurate to a few seconds' },
  },
  additionalProperties: false,
} as const

const issuedKey = {
  title: 'IssuedKey',
  description: 'A new API key, with its secret',
  type: 'object',
  required: ['id', 'key', 'organisation_id', 'name', 'role', 'prompts', 'created_at', 'expires_at'],
  properties: { ...key, key: { type: 'string', description: 'The key itself, shown only once' } },
  additionalProperties: false,
} as const

export const keyPageSchema = {
  type: 'object',
  required: ['data', 'pagination'],
  properties: { data: { type: 'array', items: keySchema }, pagination: paginationSchema },
  additionalProperties: false,
  description: 'One page of keys',
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
  description: 'The new key, shown only once',
  examples: [{ data: { ...issuedExample, key: 'plk_0000000000000000000000000000000000000000000x7Qa' } }],
} as const

export const keyParamsSchema = {
  type: 'object',
  required: ['key_id'],
  properties: { key_id: { type: 'integer', description: 'The ID of the key', examples: [issuedExample.id] } },
} as const

export type NewKeyBody = FromSchema<typeof newKeySchema>
export type KeyBody = FromSchema<typeof keySchema>
export type IssuedKeyBody = FromSchema<typeof issuedKey>
