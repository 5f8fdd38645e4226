import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ResponseSchema } from '../../../../contract/operation.ts'
import { type Access, isAllowed, type Right, type SharedPrompt } from '../../domain/access/api-key.ts'
import type { Instant } from '../../domain/time.ts'
import type { Context } from '../context.ts'
import { forbidden, notFound, notShared } from '../errors.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The roles that may call the route; any role if absent. */
    roles?: Right | undefined
    /** What share links may read of the route, on their own prompt. Rejected if absent. */
    shared?: { when: 'always' | 'with signals'; schema: ResponseSchema } | undefined
    /** Whether the headers say who calls. Of all other routes, strangers send the bodies: see admission/stranger-bodies.ts. */
    knowsCaller?: boolean | undefined
  }
  interface FastifyRequest {
    access: Access
  }
}

type Identify = (request: FastifyRequest, reply: FastifyReply, now: Instant) => Promise<Access>

/** A body that takes longer than this to arrive has its key checked again. */
export const slowBodyMs = 500

/** Makes every route of `app` check the key, the limits of its caller, and the role. `then` may check more. */
export function requireKey(
  app: FastifyInstance,
  { store, lastUsed, clock }: Pick<Context, 'store' | 'lastUsed' | 'clock'>,
  identify: Identify,
  then?: (request: FastifyRequest) => Promise<void>,
): void {
  const { loadShedder } = app
  app.decorateRequest('access')

  async function authorise(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    await store.refresh()
    const now = clock()
    const access = await identify(request, reply, now)
    request.access = access
    const turn = loadShedder.admit(request, reply, access)
    if (turn !== undefined) await turn
    if (access.shared === undefined) lastUsed.record(access.keyId, now)
    if (request.is404) throw notFound()
    if (access.shared !== undefined && !mayCall(request, access.shared)) throw notShared()
    if (!isAllowed(access.role, request.routeOptions.config.roles)) throw forbidden(access.role)
    if (then !== undefined) await then(request)
  }

  // Before the body is read, so that a rejected request never costs its body.
  app.addHook('onRequest', authorise)
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, knowsCaller: true }
  })
  // Again if the body was slow to arrive: the key may have been revoked in the meantime.
  app.addHook('preHandler', (request, reply, done) => {
    const isSlow = performance.now() - request.arrivedAt > slowBodyMs
    const ready = isSlow ? authorise(request, reply) : loadShedder.admit(request, reply, request.access)
    if (ready === undefined) done()
    else ready.then(() => done(), done)
  })
}

function mayCall({ routeOptions: { config } }: FastifyRequest, { includesSignals }: SharedPrompt): boolean {
  return config.shared?.when === 'always' || (config.shared?.when === 'with signals' && includesSignals)
}
