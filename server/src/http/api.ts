import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Access, Role } from '../domain/access/api-key.ts'
import type { Prompt } from '../domain/prompt.ts'
import { findPrompt } from '../domain/prompt-reference.ts'
import type { Instant } from '../domain/time.ts'
import { alertRoutes } from './alerts/routes.ts'
import { auditRoutes } from './audit/routes.ts'
import { authenticate, authenticateSession } from './auth.ts'
import type { Context } from './context.ts'
import { deploymentRoutes } from './deployments/routes.ts'
import { forbidden, notFound, overloaded } from './errors.ts'
import { historyRoutes } from './history/routes.ts'
import { impactRoutes } from './impact/routes.ts'
import { acceptJsonBodies } from './json-bodies.ts'
import { createRejectedKeys } from './keys/rejected.ts'
import { keyRoutes } from './keys/routes.ts'
import { promptRoutes } from './prompts/routes.ts'
import { regressionRoutes } from './regressions/routes.ts'
import { repositoryRoutes } from './repositories/routes.ts'
import { segmentRoutes } from './segments/routes.ts'
import { sessionRoutes } from './sessions/routes.ts'
import { shiftRoutes } from './shifts/routes.ts'
import { signalRoutes } from './signals/routes.ts'
import { usageRoutes } from './usage/routes.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The roles that may call the route; any role if absent. */
    roles?: readonly Role[]
  }
  interface FastifyRequest {
    access: Access
    /** The prompt in the path, on routes with :prompt_id. */
    prompt: Prompt
  }
}

/** A body that takes longer than this to arrive has its key checked again. */
export const slowBodyMs = 500

/** Everything under /api/v1. Every route runs the same checks in the same order: key, role, path and prompt, body. */
export function api(context: Context) {
  const { store, lastUsed, publicUrl, clock, log } = context

  return async (app: FastifyInstance) => {
    const rejectedKeys = createRejectedKeys(app.auditThrottle, log, clock)
    const { loadShedder } = app
    app.decorateRequest('access')
    app.decorateRequest('prompt')

    function identify(request: FastifyRequest, reply: FastifyReply, now: Instant): Promise<Access> {
      const { authorization, cookie } = request.headers
      if (authorization !== undefined || cookie === undefined) return authenticate(store, rejectedKeys, request, now)
      // Keep session data out of the browser's cache.
      reply.header('Cache-Control', 'no-store')
      return authenticateSession(store, request, publicUrl(), now)
    }

    async function authorise(request: FastifyRequest, reply: FastifyReply): Promise<void> {
      await store.refresh()
      const now = clock()
      const access = await identify(request, reply, now)
      request.access = access
      if (request.adminsOnly && access.role !== 'admin') throw overloaded
      const turn = loadShedder.admit(request, reply, access)
      if (turn !== undefined) await turn
      lastUsed.record(access.keyId, now)
      if (request.is404) throw notFound()
      const { roles } = request.routeOptions.config
      if (roles !== undefined && !roles.includes(access.role)) throw forbidden(access.role)
      const { prompt_id: promptId } = request.params as { prompt_id?: string }
      if (promptId !== undefined) {
        const prompt = await findPrompt(store.prompts, access, promptId)
        if (prompt === null) throw notFound()
        request.prompt = prompt
      }
    }

    // Before the body is read, so that a rejected request never costs its body.
    app.addHook('onRequest', authorise)
    // Again if the body was slow to arrive: the key may have been revoked in the meantime.
    app.addHook('preHandler', (request, reply, done) => {
      const isSlow = performance.now() - request.arrivedAt > slowBodyMs
      const ready = isSlow ? authorise(request, reply) : loadShedder.resume(request)
      if (ready === undefined) done()
      else ready.then(() => done(), done)
    })

    acceptJsonBodies(app)

    app.setNotFoundHandler(() => {
      throw notFound()
    })

    await app.register(historyRoutes(context))
    await app.register(signalRoutes(context))
    await app.register(impactRoutes(context))
    await app.register(segmentRoutes(context))
    await app.register(promptRoutes(context))
    await app.register(keyRoutes(context))
    await app.register(usageRoutes(context))
    await app.register(repositoryRoutes(context))
    await app.register(deploymentRoutes(context))
    await app.register(regressionRoutes(context))
    await app.register(shiftRoutes(context))
    await app.register(alertRoutes(context))
    await app.register(auditRoutes(context))
    await app.register(sessionRoutes(context))
  }
}
