import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Access } from '../domain/access/api-key.ts'
import type { Prompt } from '../domain/prompt.ts'
import { findPrompt } from '../domain/prompt-reference.ts'
import type { Instant } from '../domain/time.ts'
import { alertRoutes } from './alerts/routes.ts'
import { auditRoutes } from './audit/routes.ts'
import { authenticate, authenticateSession } from './auth.ts'
import type { Context } from './context.ts'
import { deploymentRoutes } from './deployments/routes.ts'
import { notFound } from './errors.ts'
import { historyRoutes } from './history/routes.ts'
import { impactRoutes } from './impact/routes.ts'
import { acceptJsonBodies } from './json-bodies.ts'
import { requireKey } from './keys/required.ts'
import { keyRoutes } from './keys/routes.ts'
import { organisationRoutes } from './organisation/routes.ts'
import { promptRoutes } from './prompts/routes.ts'
import { regressionRoutes } from './regressions/routes.ts'
import { repositoryRoutes } from './repositories/routes.ts'
import { segmentRoutes } from './segments/routes.ts'
import { sessionRoutes } from './sessions/routes.ts'
import { shiftRoutes } from './shifts/routes.ts'
import { signalRoutes } from './signals/routes.ts'
import { usageRoutes } from './usage/routes.ts'
import { versionRoutes } from './versions/routes.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The prompt in the path, on routes with :prompt_id. */
    prompt: Prompt
  }
}

/** Everything under /api/v1. Every route runs the same checks in the same order: key, role, path and prompt, body. */
export function api(context: Context) {
  const { store, publicUrl } = context

  return async (app: FastifyInstance) => {
    app.decorateRequest('prompt')

    function identify(request: FastifyRequest, reply: FastifyReply, now: Instant): Promise<Access> {
      const { authorization, cookie } = request.headers
      if (authorization !== undefined || cookie === undefined) {
        return authenticate(store, app.rejectedKeys, request, now)
      }
      // Keep session data out of the browser's cache.
      reply.header('Cache-Control', 'no-store')
      return authenticateSession(store, request, publicUrl(), now)
    }

    async function findPromptInPath(request: FastifyRequest): Promise<void> {
      const { prompt_id: promptId } = request.params as { prompt_id?: string }
      if (promptId === undefined) return
      const prompt = await findPrompt(store.prompts, request.access, promptId)
      if (prompt === null) throw notFound()
      request.prompt = prompt
    }

    requireKey(app, context, identify, findPromptInPath)

    acceptJsonBodies(app)

    app.setNotFoundHandler(() => {
      throw notFound()
    })

    await app.register(historyRoutes(context))
    await app.register(versionRoutes(context))
    await app.register(signalRoutes(context))
    await app.register(impactRoutes(context))
    await app.register(segmentRoutes(context))
    await app.register(promptRoutes(context))
    await app.register(keyRoutes(context))
    await app.register(usageRoutes(context))
    await app.register(organisationRoutes(context))
    await app.register(repositoryRoutes(context))
    await app.register(deploymentRoutes(context))
    await app.register(regressionRoutes(context))
    await app.register(shiftRoutes(context))
    await app.register(alertRoutes(context))
    await app.register(auditRoutes(context))
    await app.register(sessionRoutes(context))
  }
}
