import type { FastifyInstance } from 'fastify'
import type { Access, ApiKey } from '../../domain/access/api-key.ts'
import type { Organisation } from '../../domain/access/organisation.ts'
import { hashToken, startSession } from '../../domain/access/session.ts'
import type { Store } from '../../domain/store.ts'
import { isoTime } from '../../domain/time.ts'
import type { Context } from '../context.ts'
import { errorBodySchema, unexpectedBodySchema } from '../error-schema.ts'
import { unauthorized } from '../errors.ts'
import { toKeyBody } from '../keys/body.ts'
import { clearedSessionCookie, sessionCookie, sessionTokenIn } from './cookie.ts'
import { type SessionBody, sessionSchema } from './schema.ts'

const tags = ['Sessions']
const config = { roles: ['standard', 'admin'] } as const
const errors = { 401: errorBodySchema, 403: errorBodySchema, 500: errorBodySchema }

function setsCookie(description: string) {
  return { 'Set-Cookie': { description, schema: { type: 'string' } } }
}

/** Signing in with a key, and what becomes of it. */
export function sessionRoutes({ store, repositories: following, clock }: Context) {
  return async (app: FastifyInstance) => {
    app.post(
      '/session',
      {
        schema: {
          operationId: 'signIn',
          summary: 'Sign in',
          description:
            'Exchanges the key for a cookie, with which a browser may do what the key may. The session ends after 30 ' +
            'days, or as soon as the key no longer works.',
          tags,
          security: ['key'],
          response: {
            201: {
              description: 'The session has begun',
              headers: setsCookie('The session, for the browser to keep'),
              content: { 'application/json': { schema: sessionSchema } },
            },
            ...errors,
            422: unexpectedBodySchema,
          },
        },
        config,
      },
      async ({ access, headers }, reply) => {
        // A session would otherwise prolong itself.
        if (headers.authorization === undefined) throw unauthorized()
        const now = clock()
        const { token, expiresAt } = await startSession(store.sessions, access, now)
        return reply
          .status(201)
          .header('Cache-Control', 'no-store')
          .header('Set-Cookie', sessionCookie(token, expiresAt, now, following.publicUrl()))
          .send({ data: await describe(store, { ...access, expiresAt }) })
      },
    )

    app.get(
      '/session',
      {
        schema: {
          operationId: 'getSession',
          summary: 'Get the session',
          description: 'Who is signed in. Asked with a key: what the key opens.',
          tags,
          response: { 200: sessionSchema, ...errors },
        },
        config,
      },
      async ({ access }) => ({ data: await describe(store, access) }),
    )

    app.delete(
      '/session',
      {
        schema: {
          operationId: 'signOut',
          summary: 'Sign out',
          description: 'Ends the session of the cookie, if there is one. The key works on.',
          tags,
          response: {
            204: { type: 'null', description: 'There is no session any more', headers: setsCookie('None any more') },
            ...errors,
            422: unexpectedBodySchema,
          },
        },
        config,
      },
      async ({ headers }, reply) => {
        const token = sessionTokenIn(headers.cookie)
        if (token !== null) await store.sessions.end(hashToken(token))
        return reply.status(204).header('Set-Cookie', clearedSessionCookie(following.publicUrl())).send()
      },
    )
  }
}

async function describe(store: Store, { organisationId, keyId, expiresAt }: Access): Promise<SessionBody> {
  const organisation = (await store.organisations.find(organisationId)) as Organisation
  const { id, name, role, hint, expires_at } = toKeyBody((await store.keys.find(keyId)) as ApiKey)
  return {
    organisation: { id: organisation.id, name: organisation.name, plan: organisation.plan },
    key: { id, name, role, hint, expires_at },
    expires_at: expiresAt === null ? null : isoTime(expiresAt),
  }
}
