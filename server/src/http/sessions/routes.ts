import type { FastifyInstance, FastifyRequest } from 'fastify'
import { failedSignIns, operations, type SessionBody, tooManyFailures } from '../../../../contract/sessions.ts'
import type { Access, ApiKey } from '../../domain/access/api-key.ts'
import type { Organisation } from '../../domain/access/organisation.ts'
import { hashToken, startSession } from '../../domain/access/session.ts'
import { createMinuteLimit } from '../../domain/minute-limit.ts'
import type { Store } from '../../domain/store.ts'
import { isoTime } from '../../domain/time.ts'
import type { Context } from '../context.ts'
import { asDomainError, unauthorized } from '../errors.ts'
import { toKeyBody } from '../keys/body.ts'
import { networkOf } from '../keys/network.ts'
import { route } from '../route.ts'
import { clearedSessionCookie, sessionCookie, sessionTokenIn } from './cookie.ts'

const maxAddresses = 10_000

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
    route(
      app,
      operations.signIn,
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
      {
        errorHandler: limitFailures,
      },
    )

    route(app, operations.getSession, async ({ access }) => ({ data: await sessionBody(store, access) }))

    route(app, operations.signOut, async ({ headers }, reply) => {
      const token = sessionTokenIn(headers.cookie, publicUrl())
      if (token !== null) await store.sessions.end(hashToken(token))
      return reply.status(204).header('Set-Cookie', clearedSessionCookie(publicUrl())).send()
    })
  }
}

async function sessionBody(store: Store, { organisationId, keyId, expiresAt }: Access): Promise<SessionBody> {
  const organisation = (await store.organisations.find(organisationId)) as Organisation
  const { id, name, role, prompts, hint, expires_at } = toKeyBody((await store.keys.find(keyId)) as ApiKey)
  return {
    organisation: { id: organisation.id, name: organisation.name, plan: organisation.plan },
    key: { id, name, role, prompts, hint, expires_at },
    expires_at: expiresAt === null ? null : isoTime(expiresAt),
  }
}
