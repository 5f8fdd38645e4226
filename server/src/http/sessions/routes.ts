import type { FastifyInstance, FastifyRequest } from 'fastify'
import { readerRoles } from '../../domain/access/api-key.ts'
import { hashToken, startSession } from '../../domain/access/session.ts'
import { createMinuteLimit, MinuteLimitError } from '../../domain/minute-limit.ts'
import type { Context } from '../context.ts'
import { errorBodySchema, unexpectedBodySchema } from '../error-schema.ts'
import { asDomainError, errorBody, unauthorized } from '../errors.ts'
import { networkOf } from '../keys/network.ts'
import { sessionBody } from './body.ts'
import { clearedSessionCookie, sessionCookie, sessionTokenIn } from './cookie.ts'
import { endedSessionSchema, failedSignInsSchema, sessionSchema } from './schema.ts'

const tags = ['Sessions']
const config = { roles: readerRoles }
const errors = { 401: errorBodySchema, 403: errorBodySchema, 500: errorBodySchema }

function setCookieHeader(description: string) {
  return { 'Set-Cookie': { description, schema: { type: 'string' } } }
}

export const failedSignIns = 10
const maxAddresses = 10_000

const tooManyFailures =
  `The API key is missing or not valid, and ${failedSignIns} others from this address were rejected within a minute. ` +
  'Check the key, and try again later.'

const failedSignInsExample = JSON.parse(
  errorBody(new MinuteLimitError(failedSignIns, Date.UTC(2026, 10, 15, 12, 1), tooManyFailures)),
)

/** Sign in to the console with a key, and out again. */
export function sessionRoutes({ store, publicUrl, clock }: Context) {
  const failures = createMinuteLimit(failedSignIns, tooManyFailures, maxAddresses, clock)

  /** Counts keys that are not valid, and only those: a valid key signs in however many others its address has tried. */
  function limitFailures(error: Error, request: FastifyRequest): never {
    if (asDomainError(error).code === 'unauthorized') {
      failures.count(networkOf(request.server.clientAddresses.of(request)))
    }
    throw error
  }

  return async (app: FastifyInstance) => {
    app.post(
      '/session',
      {
        schema: {
          operationId: 'signIn',
          summary: 'Sign in',
          description:
            'Exchanges the key for a cookie that gives a browser the same access. The session ends after 30 days, or ' +
            `as soon as the key is revoked or expires. After ${failedSignIns} keys of one address that are not valid, others of the ` +
            'same minute get 429 instead of 401; a valid key is always accepted.',
          tags,
          security: ['key'],
          response: {
            201: {
              description: 'The session has started',
              headers: setCookieHeader('The session cookie'),
              content: { 'application/json': { schema: sessionSchema } },
            },
            ...errors,
            422: unexpectedBodySchema,
            429: { ...failedSignInsSchema, examples: [failedSignInsExample] },
          },
        },
        config,
        errorHandler: limitFailures,
      },
      async ({ access, headers }, reply) => {
        // Only a key can start a session; otherwise a session could extend itself forever.
        if (headers.authorization === undefined) throw unauthorized()
        const now = clock()
        const { organisationId } = access
        await app.auditThrottle.record({ organisationId, by: access, action: 'session.started', about: '' })
        const { token, expiresAt } = await startSession(store.sessions, access, now)
        return reply
          .status(201)
          .header('Cache-Control', 'no-store')
          .header('Set-Cookie', sessionCookie(token, expiresAt, now, publicUrl()))
          .send({ data: await sessionBody(store, { ...access, expiresAt }) })
      },
    )

    app.get(
      '/session',
      {
        schema: {
          operationId: 'getSession',
          summary: 'Get the session',
          description:
            'The organisation and key of the current session. With a key instead of a cookie: those of the key.',
          tags,
          response: { 200: sessionSchema, ...errors, 401: endedSessionSchema },
        },
        config,
      },
      async ({ access }) => ({ data: await sessionBody(store, access) }),
    )

    app.delete(
      '/session',
      {
        schema: {
          operationId: 'signOut',
          summary: 'Sign out',
          description: 'Ends the session of the cookie, if any. The key stays valid.',
          tags,
          response: {
            204: { type: 'null', description: 'Signed out', headers: setCookieHeader('Clears the session cookie') },
            ...errors,
            422: unexpectedBodySchema,
          },
        },
        config,
      },
      async ({ headers }, reply) => {
        const token = sessionTokenIn(headers.cookie, publicUrl())
        if (token !== null) await store.sessions.end(hashToken(token))
        return reply.status(204).header('Set-Cookie', clearedSessionCookie(publicUrl())).send()
      },
    )
  }
}
