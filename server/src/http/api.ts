import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Access, Role } from '../domain/api-key.ts'
import { forbidden, notFound } from '../domain/errors.ts'
import { lookupId, type Prompt } from '../domain/prompt.ts'
import type { Context } from './app.ts'
import { authenticate } from './auth.ts'
import { bodyLimit, parseBody } from './body.ts'
import { entryRoutes } from './routes/entries.ts'
import { historyRoutes } from './routes/history.ts'
import { impactRoutes } from './routes/impact.ts'
import { keyRoutes } from './routes/keys.ts'
import { promptRoutes } from './routes/prompts.ts'
import { repositoryRoutes } from './routes/repositories.ts'
import { signalReadingRoutes } from './routes/signal-reading.ts'
import { signalRoutes } from './routes/signals.ts'
import { usageRoutes } from './routes/usage.ts'
import { validator } from './validate.ts'

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
  const { store, uses, clock } = context

  return async (app: FastifyInstance) => {
    app.decorateRequest('access')
    app.decorateRequest('prompt')
    app.decorateRequest('bodyText', '')

    async function authorise(request: FastifyRequest): Promise<void> {
      await store.refresh()
      const now = clock()
      const access = await authenticate(store, request.headers.authorization, now)
      request.access = access
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
      if (reply.elapsedTime > slowBody) authorise(request).then(() => done(), done)
      else done()
    })

    app.removeAllContentTypeParsers()
    app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer', bodyLimit }, (request, bytes, done) => {
      // Clients that always send the header send it with nothing too, which is right where nothing is asked for.
      if (bytes.length === 0 && mayBeMissing(request.routeOptions.schema?.body)) {
        done(null, undefined)
        return
      }
      try {
        const { text, value } = parseBody(bytes)
        request.bodyText = text
        done(null, value)
      } catch (error) {
        done(error as Error)
      }
    })

    // Bodies are checked against their schema. Paths and queries are only described by theirs: a path that fits nothing is
    // not found, and a page that makes no sense falls back to the default.
    app.setValidatorCompiler(({ schema, httpPart }) => (httpPart === 'body' ? validator(schema as object) : () => true))

    app.setNotFoundHandler(() => {
      throw notFound()
    })

    await app.register(historyRoutes(context))
    await app.register(entryRoutes(context))
    await app.register(signalRoutes(context))
    await app.register(signalReadingRoutes(context))
    await app.register(impactRoutes(context))
    await app.register(promptRoutes(context))
    await app.register(keyRoutes(context))
    await app.register(usageRoutes(context))
    await app.register(repositoryRoutes(context))
  }
}

/** Whether a request is fine without a body: the validator sees null in its place. */
function mayBeMissing(body: unknown): boolean {
  const { type } = (body ?? { type: 'null' }) as { type?: string | string[] }
  return [type].flat().includes('null')
}
