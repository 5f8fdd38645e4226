import type { FromSchema } from 'json-schema-to-ts'
import { readerRoles, roles } from '../server/src/domain/access/api-key.ts'
import { plans } from '../server/src/domain/access/plan.ts'
import { minuteLimitError } from '../server/src/domain/minute-limit.ts'
import { errorBody, unauthorized } from '../server/src/http/errors.ts'
import { defineOperations } from './operation.ts'
import { limitedSchema, message, object, one, timeOrNull, withHeaders } from './schema.ts'

const session = object(
  {
    organisation: object({ id: { type: 'integer' }, name: { type: 'string' }, plan: { enum: plans } }),
    key: object({
      id: { type: 'integer' },
      name: { type: 'string' },
      role: { enum: roles },
      prompts: {
        type: ['string', 'null'],
        description: 'A glob of the prompts that the key is limited to; null for every prompt',
      },
      hint: { type: 'string', description: 'The last four characters of the key' },
      expires_at: { ...timeOrNull, description: 'When the key expires; null for never' },
    }),
    expires_at: {
      ...timeOrNull,
      description:
        'When the session ends: after 30 days, or when the key expires. For a request with a key, when the key expires',
    },
  },
  { title: 'Session', description: 'A session, and the key that started it' },
)

export const sessionSchema = one(session, 'The current session', {
  organisation: { id: 1, name: 'Acme', plan: 'team' },
  key: { id: 12, name: 'Ada', role: 'admin', prompts: null, hint: 'x7Qa', expires_at: null },
  expires_at: '2026-12-15T12:00:00.000Z',
})

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

export function setCookieHeader(description: string) {
  return { 'Set-Cookie': { description, schema: { type: 'string' } } }
}

export const failedSignIns = 10

export const tooManyFailures =
  `The API key is missing or not valid, and ${failedSignIns} others from this address were rejected within a minute. ` +
  'Check the key, and try again later.'

export const failedSignInsExample = JSON.parse(
  errorBody(minuteLimitError(failedSignIns, Date.UTC(2026, 10, 15, 12, 1), tooManyFailures)),
)

export const operations = defineOperations('Sessions', {
  signIn: {
    method: 'POST',
    path: '/api/v1/session',
    client: 'session.create',
    summary: 'Sign in',
    description:
      'Exchanges the key for a cookie that gives a browser the same access. The session ends after 30 days, or ' +
      `as soon as the key is revoked or expires. After ${failedSignIns} keys of one address that are not valid, others of the ` +
      'same minute get 429 instead of 401; a valid key is always accepted.',
    security: ['key'],
    roles: readerRoles,
    response: {
      201: withHeaders(setCookieHeader('The session cookie'), sessionSchema, 'The session has started'),
      429: { ...failedSignInsSchema, examples: [failedSignInsExample] },
    },
  },

  getSession: {
    method: 'GET',
    path: '/api/v1/session',
    client: 'session.get',
    summary: 'Get the session',
    description: 'The organisation and key of the current session. With a key instead of a cookie: those of the key.',
    roles: readerRoles,
    response: { 200: sessionSchema, 401: endedSessionSchema },
  },

  signOut: {
    method: 'DELETE',
    path: '/api/v1/session',
    client: 'session.delete',
    summary: 'Sign out',
    description: 'Ends the session of the cookie, if any. The key stays valid.',
    roles: readerRoles,
    response: {
      204: { type: 'null', description: 'Signed out', headers: setCookieHeader('Clears the session cookie') },
    },
  },
})
