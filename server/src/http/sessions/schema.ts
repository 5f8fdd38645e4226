import type { FromSchema } from 'json-schema-to-ts'
import { roles } from '../../domain/access/api-key.ts'
import { plans } from '../../domain/access/plan.ts'
import { limitedSchema, message } from '../error-schema.ts'
import { unauthorized } from '../errors.ts'

const timeOrNull = { type: ['string', 'null'], format: 'date-time' } as const

const session = {
  title: 'Session',
  description: 'A session, and the key that started it',
  type: 'object',
  required: ['organisation', 'key', 'expires_at'],
  properties: {
    organisation: {
      type: 'object',
      required: ['id', 'name', 'plan'],
      properties: { id: { type: 'integer' }, name: { type: 'string' }, plan: { enum: plans } },
      additionalProperties: false,
    },
    key: {
      type: 'object',
      required: ['id', 'name', 'role', 'prompts', 'hint', 'expires_at'],
      properties: {
        id: { type: 'integer' },
        name: { type: 'string' },
        role: { enum: roles },
        prompts: {
          type: ['string', 'null'],
          description: 'A glob of the prompts that the key is limited to; null for every prompt',
        },
        hint: { type: 'string', description: 'The last four characters of the key' },
        expires_at: { ...timeOrNull, description: 'When the key expires; null for never' },
      },
      additionalProperties: false,
    },
    expires_at: {
      ...timeOrNull,
      description:
        'When the session ends: after 30 days, or when the key expires. For a request with a key, when the key expires',
    },
  },
  additionalProperties: false,
} as const

export const sessionSchema = {
  type: 'object',
  required: ['data'],
  properties: { data: session },
  additionalProperties: false,
  description: 'The current session',
  examples: [
    {
      data: {
        organisation: { id: 1, name: 'Acme', plan: 'team' },
        key: { id: 12, name: 'Ada', role: 'admin', prompts: null, hint: 'x7Qa', expires_at: null },
        expires_at: '2026-12-15T12:00:00.000Z',
      },
    },
  ],
} as const

/** The response to the cookie of a session that has ended. */
export const endedSessionSchema = {
  title: 'EndedSession',
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: {
        code: { const: 'unauthorized' },
        message,
        reason: {
          enum: ['key_revoked', 'expired'],
          description:
            'Why the session of the cookie ended: its key was revoked, or the session or its key expired. Absent without a ' +
            'session: there is no cookie, or someone signed out',
        },
      },
    },
  },
  examples: [{ error: { code: 'unauthorized', message: unauthorized().message } }],
} as const

/** The response to a key that is not valid, after many others. */
export const failedSignInsSchema = limitedSchema(
  'FailedSignIns',
  'How many keys of an address may be rejected in a minute',
  'How many were rejected',
  'When the minute ends',
)

export type SessionBody = FromSchema<typeof session>
