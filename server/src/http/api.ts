import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Access } from '../domain/access/api-key.ts'
import type { Prompt } from '../domain/prompt.ts'
import { findPrompt } from '../domain/prompt-reference.ts'
import type { Instant } from '../domain/time.ts'
import { alertRoutes } from './alerts/routes.ts'
import { auditRoutes } from './audit/routes.ts'
import { authenticate, authenticateSession } from './auth.ts'
import type { Context } from './context.ts'
import { deliveryRoutes } from './delivery/routes.ts'
import { deploymentRoutes } from './deployments/routes.ts'
import { notFound } from './errors.ts'
import { historyRoutes } from './history/routes.ts'
import { impactRoutes } from './impact/routes.ts'
import { acceptJsonBodies } from './json-bodies.ts'
import { requireKey } from './keys/required.ts'
import { keyRoutes } from './keys/routes.ts'
import { organisationRoutes } from './organisation/routes.ts'
import { invitationRoutes } from './people/invitations.ts'
import { personRoutes } from './people/routes.ts'
import { promptRoutes } from './prompts/routes.ts'
import { regressionRoutes } from './regressions/routes.ts'
import { repositoryRoutes } from './repositories/routes.ts'
import { segmentRoutes } from './segments/routes.ts'
import { sessionRoutes } from './sessions/routes.ts'
import { restrictShared } from './shares/restricted.ts'
import { shareRoutes } from './shares/routes.ts'
import { shiftRoutes } from './shifts/routes.ts'
import { signInCheckRoutes } from './sign-in/check.ts'
import type { SignInDesk } from './sign-in/desk.ts'
import { signalRoutes } from './signals/routes.ts'
import { sourceRoutes } from './sources/routes.ts'
import { telemetryRoutes } from './telemetry/routes.ts'
import { textRoutes } from './texts/routes.ts'
import { trialRoutes } from './trials/routes.ts'
import { usageRoutes } from './usage/routes.ts'
import { versionRoutes } from './versions/routes.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The prompt in the path, on routes with :prompt_id. */
    prompt: Prompt
    /** That of the caches before the key was looked up. */
    cacheGeneration: number
  }
}

/** Everything under /api/v1. Every route runs the same checks in the same order: key, role, path and prompt, body. */
export function api(app: FastifyInstance, context: Context, desk: SignInDesk): void {
  const { store, publicUrl } = context

  app.decorateRequest('prompt')
  app.decorateRequest('cacheGeneration', -1)

  function identify(request: FastifyRequest, reply: FastifyReply, now: Instant): Promise<Access> {
    const { authorization, cookie } = request.headers
    request.cacheGeneration = store.cacheGeneration()
    if (authorization !== undefined || cookie === undefined) {
      return authenticate(store, app.rejectedKeys, request, now, { allowShares: true })
    }
    // Keep session data out of the browser's cache.
    reply.header('Cache-Control', 'no-store')
    return authenticateSession(store, request, publicUrl(), now)
  }

  async function findPromptInPath(request: FastifyRequest): Promise<void> {
    const { prompt_id: promptId } = request.params as { prompt_id?: string }
    if (promptId === undefined) return
    const { shared } = request.access
    // By its ID only: the names of other prompts must not matter.
    if (shared !== undefined && promptId !== shared.promptId) throw notFound()
    const prompt = await findPrompt(store.prompts, request.access, promptId)
    if (prompt === null) throw notFound()
    request.prompt = prompt
    // A share link reads rarely, and not everything that a key may.
    if (request.access.shared === undefined) {
      app.shortPath?.remember(request.raw, request.access, prompt, request.cacheGeneration)
    }
  }

  requireKey(app, context, identify, findPromptInPath)

  acceptJsonBodies(app)
  // Only these, because a hook costs every request.
  app.addHook('onRoute', (route) => {
    if (route.config?.shared !== undefined) route.onSend = [route.onSend ?? [], restrictShared].flat()
  })

  app.setNotFoundHandler(() => {
    throw notFound()
  })

  // Called, not registered: none has hooks of its own, and 35 plugins take a quarter of the start.
  historyRoutes(app, context)
  versionRoutes(app, context)
  textRoutes(app, context)
  deliveryRoutes(app, context)
  trialRoutes(app, context)
  signalRoutes(app, context)
  telemetryRoutes(app, context)
  impactRoutes(app, context)
  segmentRoutes(app, context)
  promptRoutes(app, context)
  keyRoutes(app, context)
  personRoutes(app, context)
  invitationRoutes(app, context)
  signInCheckRoutes(app, context, desk)
  usageRoutes(app, context)
  organisationRoutes(app, context)
  repositoryRoutes(app, context)
  deploymentRoutes(app, context)
  regressionRoutes(app, context)
  shiftRoutes(app, context)
  alertRoutes(app, context)
  sourceRoutes(app, context)
  auditRoutes(app, context)
  shareRoutes(app, context)
  sessionRoutes(app, context)
}
