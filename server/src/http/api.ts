import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Access, Role } from '../domain/access/api-key.ts'
import { forbidden, notFound } from '../domain/errors.ts'
import { lookupId, type Prompt } from '../domain/prompt.ts'
import type { Instant } from '../domain/time.ts'
import { auditRoutes } from './audit/routes.ts'
import { authenticate, authenticateSession, secretIn } from './auth.ts'
import type { Context } from './context.ts'
import { overloaded } from './errors.ts'
import { entryRoutes } from './history/entries.ts'
import { historyRoutes } from './history/list.ts'
import { impactRoutes } from './impact/list.ts'
import { timelineRoutes } from './impact/timeline.ts'
import { takeJsonBodies } from './json-bodies.ts'
import { keyRoutes } from './keys/routes.ts'
import { promptRoutes } from './prompts/routes.ts'
import { repositoryRoutes } from './repositories/routes.ts'
import { sessionRoutes } from './sessions/routes.ts'
import { signalRoutes } from './signals/create.ts'
import { erasureRoutes } from './signals/erase.ts'
import { signalReadingRoutes } from './signals/list.ts'
import { usageRoutes } from './usage/routes.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The roles that may call the route. */
    roles?: readonly Role[]
  }
  interface FastifyRequest {
    access: Access
    /** The prompt that the path names, on routes with :prompt_id. */
    prompt: Prompt
  }
}

// Milliseconds.
const slowBody = 500

/** Everything under /api/v1. The checks come in one order on every route: key, role, path and prompt, body. */
export function api(context: Context) {
  const { store, keyUses: uses, repositories: following, clock } = context

  return async (app: FastifyInstance) => {
    app.decorateRequest('access')
    app.decorateRequest('prompt')

    function identify(request: FastifyRequest, reply: FastifyReply, now: Instant): Promise<Access> {
      const { authorization, cookie } = request.headers
      if (authorization !== undefined || cookie === undefined) return authenticate(store, secretIn(authorization), now)
      // What a browser is shown in a session must not be found in it afterwards, nor be taken for anything but what it is.
      reply.header('Cache-Control', 'no-store').header('X-Content-Type-Options', 'nosniff')
      return authenticateSession(store, request, following.publicUrl(), now)
    }

    async function authorise(request: FastifyRequest, reply: FastifyReply): Promise<void> {
      await store.refresh()
      const now = clock()
      const access = await identify(request, reply, now)
      request.access = access
      if (request.onlyAdmins && access.role !== 'admin') throw overloaded
      uses.note(access.keyId, now)
      if (request.is404) throw notFound()
      const { roles } = request.routeOptions.config
      if (roles !== undefined && !roles.includes(access.role)) throw forbidden(access.role)
      const { prompt_id: promptId } = request.params as { prompt_id?: string }
      if (promptId !== undefined) {
        const prompt = await store.prompts.find(access.organisationId, lookupId(promptId))
        if (prompt === null) throw notFound()
        request.prompt = prompt
      }
    }

    // Before the body is read: whoever has no key or asks for nothing that exists sends it in vain.
    app.addHook('onRequest', authorise)
    // And again where the body took its time: the key may have been revoked since.
    app.addHook('preHandler', (request, reply, done) => {
      if (performance.now() - request.arrivedAt > slowBody) authorise(request, reply).then(() => done(), done)
      else done()
    })

    takeJsonBodies(app)

    app.setNotFoundHandler(() => {
      throw notFound()
    })

    await app.register(historyRoutes(context))
    await app.register(entryRoutes(context))
    await app.register(signalRoutes(context))
    await app.register(signalReadingRoutes(context))
    await app.register(erasureRoutes(context))
    await app.register(impactRoutes(context))
    await app.register(timelineRoutes(context))
    await app.register(promptRoutes(context))
    await app.register(keyRoutes(context))
    await app.register(usageRoutes(context))
    await app.register(repositoryRoutes(context))
    await app.register(auditRoutes(context))
    await app.register(sessionRoutes(context))
  }
}
