import type { FromSchema } from 'json-schema-to-ts'
import { accessRoles, readerRoles } from '../server/src/domain/access/api-key.ts'
import { plans } from '../server/src/domain/access/plan.ts'
import { minuteLimitError } from '../server/src/domain/minute-limit.ts'
import { errorBody, unauthorized } from '../server/src/http/errors.ts'
import { defineOperations } from './operation.ts'
import { personRole } from './people.ts'
import {
  errorWith,
  limitedSchema,
  list,
  object,
  one,
  pageQuerySchema,
  time,
  timeOrNull,
  withHeaders,
} from './schema.ts'

const session = object(
  {
    organisation: object({ id: { type: 'integer' }, name: { type: 'string' }, plan: { enum: plans } }),
    key: object({
      id: { type: 'integer' },
      name: { type: 'string' },
      role: { enum: accessRoles },
      prompts: {
        type: ['string', 'null'],
        description: 'A glob of the prompts that the key is limited to; null for every prompt',
      },
      hint: { type: 'string', description: 'The last four characters of the key; empty if a person is signed in' },
      expires_at: { ...timeOrNull, description: 'When the key expires; null for never' },
    }),
    person: {
      description: 'The person who is signed in, or whom the key belongs to; null for a key of the organisation',
      anyOf: [
        object({
          id: { type: 'integer' },
          name: { type: 'string' },
          email: { type: 'string' },
          role: personRole,
          key_roles: {
            type: 'array',
            items: { enum: accessRoles },
            description: 'The roles of keys that the person may create',
          },
          organisations: {
            type: 'array',
            description:
              'The organisations that the person may switch to, with the current one. Only its own for a key',
            items: object({ id: { type: 'integer' }, name: { type: 'string' } }),
          },
        }),
        { type: 'null' },
      ],
    },
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
  person: null,
  expires_at: '2026-12-15T12:00:00.000Z',
})

const listedSession = object(
  {
    id: { type: 'string', description: 'Names the session, and grants nothing' },
    name: { type: 'string', description: 'The name of the person, or of the key' },
    person_id: {
      type: ['integer', 'null'],
      description: 'The person who is signed in; null for a key of the organisation',
    },
    client: { type: ['string', 'null'], description: 'What the browser calls itself' },
    is_current: { type: 'boolean', description: 'Whether it is the session of this request' },
    created_at: time,
    expires_at: time,
  },
  { title: 'ListedSession', description: 'A session that has not ended' },
)

const sessionPageSchema = list(listedSession, 'One page of sessions, newest first', [
  {
    id: '9f86d081884c7d659a2feaa0c55ad015',
    name: 'Ada Lovelace',
    person_id: 5,
    client: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    is_current: true,
    created_at: '2026-11-15T12:00:00.000Z',
    expires_at: '2026-11-16T12:00:00.000Z',
  },
])

export type ListedSessionBody = FromSchema<typeof listedSession>

/** The response to the cookie of a session that has ended. */
const endedSessionSchema = {
  ...errorWith('EndedSession', 'unauthorized', {
    reason: {
      enum: ['key_revoked', 'disabled', 'expired'],
      description:
        'Why the session of the cookie ended: its key was revoked, the person was disabled, or the session or its key expired. Absent without a ' +
        'session: there is no cookie, or someone signed out',
    },
  }),
  examples: [{ error: { code: 'unauthorized', message: unauthorized().message } }],
}

/** The response to a key that is not valid, after many others. */
export const failedSignInsSchema = limitedSchema(
  'FailedSignIns',
  'How many keys of an address may be rejected in a minute',
  'How many were rejected',
  'When the minute ends',
)

export type SessionBody = FromSchema<typeof session>

function setCookieHeader(description: string) {
  return { 'Set-Cookie': { description, schema: { type: 'string' } } }
}

export const failedSignIns = 10

export const tooManyFailures =
  `The API key is missing or not valid, and ${failedSignIns} others from this address were rejected within a minute. ` +
  'Check the key, and try again later.'

const failedSignInsExample = JSON.parse(
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

  listSessions: {
    method: 'GET',
    path: '/api/v1/sessions',
    client: 'sessions.list',
    summary: 'List sessions',
    description:
      'The sessions of the person who is signed in, or of the key. For an admin with `everyone`, those of the organisation.',
    roles: readerRoles,
    query: {
      everyone: { type: 'boolean', default: false, description: 'For admins: the sessions of the whole organisation' },
      ...pageQuerySchema,
    },
    response: { 200: sessionPageSchema },
  },

  endSession: {
    method: 'DELETE',
    path: '/api/v1/sessions/:session_id',
    client: 'sessions.end',
    summary: 'End a session',
    description: 'One of your own; for an admin, any of the organisation.',
    roles: readerRoles,
    params: {
      session_id: {
        type: 'string',
        description: 'The ID of the session',
        examples: ['9f86d081884c7d659a2feaa0c55ad015'],
      },
    },
    response: { 204: { type: 'null', description: 'The session has ended' } },
  },
})
