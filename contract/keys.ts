import type { FromSchema } from 'json-schema-to-ts'
import { readerRoles, roles } from '../server/src/domain/access/api-key.ts'
import { defineOperations } from './operation.ts'
import {
  conflictSchema,
  invalidSchema,
  list,
  object,
  one,
  overlapSchema,
  pageQuerySchema,
  timeOrNull,
} from './schema.ts'

const terms = {
  name: { type: 'string', description: 'A label that identifies the key' },
  role: {
    enum: roles,
    description:
      '`ingest` records signals, `recorder` records history entries, `delivery` fetches texts for an application, `reader` reads, ' +
      '`standard` records signals, reads and deletes signals, `deploy` reads, records deployments and runs trials, `admin` does everything. `signing` makes no requests: it signs tokens for votes from browsers',
  },
  prompts: {
    type: ['string', 'null'],
    description:
      'A glob: the key is limited to prompts whose name or path matches, and all others do not exist for it; null for every ' +
      'prompt. `*` stands for anything within a folder, `**` for any number of folders',
  },
  expires_at: { ...timeOrNull, description: 'When the key expires; null for never' },
} as const

const newKeySchema = {
  title: 'NewKey',
  description: 'A key to create',
  type: 'object',
  properties: {
    name: { ...terms.name, default: 'unnamed' },
    role: { ...terms.role, default: 'standard' },
    prompts: { ...terms.prompts, default: null },
    expires_at: { ...terms.expires_at, default: null },
    personal: {
      type: 'boolean',
      default: false,
      description:
        'Whether the key belongs to the person who creates it: it ends when they are disabled, and may do no more than they may. ' +
        'Only admins create keys that do not',
    },
  },
  examples: [{ name: 'support bot', role: 'ingest', prompts: 'prompts/support/**' }],
} as const

const issuedExample = {
  id: 12,
  organisation_id: 1,
  person_id: null,
  name: 'support bot',
  role: 'ingest',
  prompts: 'prompts/support/**',
  created_at: '2026-11-15T12:00:00.000Z',
  expires_at: null,
} as const

const key = {
  id: { type: 'integer' },
  organisation_id: { type: 'integer' },
  person_id: {
    type: ['integer', 'null'],
    description: 'The person that the key belongs to, and ends with; null for a key of the organisation',
  },
  ...terms,
  created_at: { type: 'string', format: 'date-time' },
} as const

const keySchema = object(
  {
    ...key,
    hint: { type: 'string', description: 'The last four characters of the key' },
    revoked_at: { ...timeOrNull, description: 'When the key was revoked; null if it was not' },
    last_used_at: { ...timeOrNull, description: 'When the key was last used, accurate to a few seconds' },
  },
  { title: 'Key', description: 'An API key, without its secret' },
)

const issuedKey = object(
  { ...key, key: { type: 'string', description: 'The key itself, shown only once' } },
  { title: 'IssuedKey', description: 'A new API key, with its secret' },
)

export const keyPageSchema = list(keySchema, 'One page of keys', [
  { ...issuedExample, hint: 'x7Qa', revoked_at: null, last_used_at: '2026-11-15T12:05:00.000Z' },
])

export const issuedKeySchema = one(issuedKey, 'The new key, shown only once', {
  ...issuedExample,
  key: 'plk_0000000000000000000000000000000000000000000x7Qa',
})

const keyParamsSchema = {
  key_id: { type: 'integer', description: 'The ID of the key', examples: [issuedExample.id] },
} as const

export type NewKeyBody = FromSchema<typeof newKeySchema>

export type KeyBody = FromSchema<typeof keySchema>

export type IssuedKeyBody = FromSchema<typeof issuedKey>

export const operations = defineOperations('Keys', {
  listKeys: {
    method: 'GET',
    path: '/api/v1/keys',
    client: 'keys.list',
    summary: 'List keys',
    description:
      'Oldest first, including revoked and expired keys. Admins see the keys of the organisation, other people their own.',
    roles: readerRoles,
    query: pageQuerySchema,
    response: { 200: keyPageSchema },
  },

  createKey: {
    method: 'POST',
    path: '/api/v1/keys',
    client: 'keys.create',
    summary: 'Create a key',
    description:
      'The response contains the key. It is shown only once. People who are not admins create keys of their own.',
    roles: readerRoles,
    body: newKeySchema,
    response: {
      201: issuedKeySchema,
      422: invalidSchema(
        'role must be "ingest", "recorder", "delivery", "reader", "standard", "deploy", "admin" or "signing"',
      ),
    },
  },

  revokeKey: {
    method: 'DELETE',
    path: '/api/v1/keys/:key_id',
    client: 'keys.revoke',
    summary: 'Revoke a key',
    description: 'Requests with the key are rejected from now on, even if it is the key of this request.',
    roles: readerRoles,
    params: keyParamsSchema,
    response: { 204: { type: 'null', description: 'The key is revoked' } },
  },

  rotateKey: {
    method: 'POST',
    path: '/api/v1/keys/:key_id/rotate',
    client: 'keys.rotate',
    summary: 'Rotate a key',
    description:
      'Creates a replacement with the same name, role, prompts and lifetime. The old key stays valid during the overlap, 24 hours by ' +
      'default.',
    roles: readerRoles,
    params: keyParamsSchema,
    body: overlapSchema('key'),
    response: {
      201: issuedKeySchema,
      409: conflictSchema('Key 12 is revoked or expired. Create a new key instead.'),
      422: invalidSchema('overlap_hours must be >= 0'),
    },
  },
})
