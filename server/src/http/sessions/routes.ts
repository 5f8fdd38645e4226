import type { FastifyInstance, FastifyRequest } from 'fastify'
import { failedSignIns, operations, tooManyFailures } from '../../../../contract/sessions.ts'
import { hashSecret, readerRoles } from '../../domain/access/api-key.ts'
import { isSessionId, sessionIdOf } from '../../domain/access/session.ts'
import { invalid } from '../../domain/errors.ts'
import { createMinuteLimit } from '../../domain/minute-limit.ts'
import type { Context } from '../context.ts'
import { asDomainError, forbidden, notFound, unauthorized } from '../errors.ts'
import { requestedPage, sendPage } from '../page-body.ts'
import { lastValue, type Query } from '../parameters.ts'
import { route } from '../route.ts'
import { organisationsOf, sessionBody, toListedSessionBody } from './body.ts'
import { openSession } from './open.ts'

const maxAddresses = 10_000

const choiceSchema = {
  type: 'object',
  required: ['organisation_id'],
  properties: { organisation_id: { type: 'integer' } },
} as const

/** Sign in to the console with a key, and out again. */
export function sessionRoutes(app: FastifyInstance, context: Context): void {
  const { store, clock } = context
  const { cookies } = app
  const failures = createMinuteLimit(failedSignIns, tooManyFailures, maxAddresses, clock)

  /** Counts keys that are not valid, and only those: a valid key signs in however many others its address has tried. */
  function limitFailures(error: Error, request: FastifyRequest): never {
    if (asDomainError(error).code === 'unauthorized') {
      failures.count(request.server.clientAddresses.networkOf(request))
    }
    throw error
  }

  route(
    app,
    operations.signIn,
    async (request, reply) => {
      const { access, headers } = request
      // Only a key can start a session; otherwise a session could extend itself forever.
      if (headers.authorization === undefined) throw unauthorized()
      const { expiresAt, cookie } = await openSession(context, request, access, access.expiresAt)
      return reply
        .status(201)
        .header('Cache-Control', 'no-store')
        .header('Set-Cookie', cookie)
        .send({ data: await sessionBody(store, { ...access, expiresAt }) })
    },
    {
      errorHandler: limitFailures,
    },
  )

  route(app, operations.getSession, async ({ access }) => ({ data: await sessionBody(store, access) }))

  route(app, operations.signOut, async ({ headers }, reply) => {
    const token = cookies.sessionTokenIn(headers.cookie)
    if (token !== null) await store.sessions.end(hashSecret(token))
    return reply.status(204).header('Set-Cookie', cookies.clearedSession()).send()
  })

  // For the console, so not in the documentation.
  const choice = { schema: { body: choiceSchema }, config: { roles: readerRoles } }
  app.put('/session/organisation', choice, async (request, reply) => {
    const { access, headers } = request
    const { organisation_id: organisationId } = request.body as { organisation_id: number }
    const token = cookies.sessionTokenIn(headers.cookie)
    const person = await store.people.ofKey(access.keyId)
    const others = person?.keyId === access.keyId ? await organisationsOf(store, person) : []
    const chosen = others.find((other) => other.organisationId === organisationId)
    if (token === null || chosen === undefined) throw invalid('organisation_id must be one of your organisations')
    // Ends when the other would have: otherwise a session could extend itself forever.
    const { expiresAt, cookie } = await openSession(context, request, chosen, access.expiresAt)
    await store.sessions.end(hashSecret(token))
    return reply
      .header('Cache-Control', 'no-store')
      .header('Set-Cookie', cookie)
      .send({ data: await sessionBody(store, { organisationId, keyId: chosen.keyId, expiresAt }) })
  })

  route(app, operations.listSessions, async ({ access, headers, query }, reply) => {
    const everyone = lastValue((query as Query).everyone) === 'true'
    if (everyone && access.role !== 'admin') throw forbidden(access.role)
    const token = cookies.sessionTokenIn(headers.cookie)
    const current = token === null ? null : sessionIdOf(token)
    const page = requestedPage(query)
    const keyId = everyone ? null : access.keyId
    const { sessions, totalCount } = await store.sessions.page(access.organisationId, keyId, clock(), page)
    return sendPage(
      reply,
      sessions.map((session) => toListedSessionBody(session, current)),
      page,
      totalCount,
    )
  })

  route(app, operations.endSession, async ({ access, params }, reply) => {
    const { session_id: id } = params as { session_id: string }
    if (!isSessionId(id)) throw notFound()
    const keyId = access.role === 'admin' ? null : access.keyId
    if (!(await store.sessions.endById(access.organisationId, keyId, id, clock(), access))) throw notFound()
    return reply.status(204).send()
  })
}
