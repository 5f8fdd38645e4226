import Fastify, { type FastifyInstance, type RouteOptions } from 'fastify'
import type { Logger } from 'pino'
import { notFound } from '../domain/errors.ts'
import type { Store } from '../domain/store.ts'
import type { Clock } from '../domain/time.ts'
import type { Following } from '../follow/following.ts'
import { api } from './api.ts'
import { brokenRequestHandler } from './broken-requests.ts'
import { errorHandler } from './errors.ts'
import type { KeyUses } from './key-uses.ts'
import { requestIds } from './request-id.ts'
import { consoleRoutes } from './routes/console.ts'
import { healthRoutes } from './routes/health.ts'
import { referenceRoutes } from './routes/reference.ts'
import { webhookRoutes } from './routes/webhooks.ts'

/** What the routes work with. */
export interface Context {
  store: Store
  uses: KeyUses
  following: Following
  /** Where the built console lies. There may be nothing. */
  consoleFolder: URL
  clock: Clock
  log: Logger
}

const seconds = 1_000

/** Builds the service; listening is left to the caller. */
export function buildApp(context: Context): FastifyInstance {
  const { log, clock } = context
  const requestId = requestIds()
  const app = Fastify({
    // We log by ourselves: Fastify's logger would make an object for each request even where nothing is logged.
    logger: false,
    genReqId: requestId,
    // A slow or silent client gives its connection back.
    requestTimeout: 30 * seconds,
    keepAliveTimeout: 72 * seconds,
    http: { headersTimeout: 15 * seconds, connectionsCheckingInterval: 5 * seconds, requireHostHeader: false },
    // While we close, requests that arrive on open connections are still answered, with `Connection: close`.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    exposeHeadRoutes: false,
    rewriteUrl: ({ url = '/' }) => readableUrl(url),
    // Ids of any length take the same way to the same 404.
    routerOptions: { maxParamLength: 16_384 },
    clientErrorHandler: brokenRequestHandler(() => requestId({ headers: {} })),
  })
  // Otherwise node answers an unknown `Expect` header by itself, with a status we do not have.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))

  // Answers are written by their routes; the schemas of answers describe them, for the documentation and the tests.
  app.setSerializerCompiler(() => JSON.stringify)
  // The same goes for requests, apart from bodies under /api/v1.
  app.setValidatorCompiler(() => () => true)
  app.setErrorHandler(errorHandler(log, clock))
  app.setNotFoundHandler(() => {
    throw notFound()
  })
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('X-Request-Id', request.id)
    done()
  })
  if (log.isLevelEnabled('debug')) logRequests(app, log)

  const routes: RouteOptions[] = []
  app.addHook('onRoute', (route) => {
    routes.push(route)
  })

  app.register(healthRoutes(context))
  app.register(referenceRoutes(routes))
  app.register(webhookRoutes(context))
  app.register(consoleRoutes(context))
  app.register(api(context), { prefix: '/api/v1' })
  return app
}

/** The route, not the address, and no header: nothing that could hold a key or what somebody wrote. */
function logRequests(app: FastifyInstance, log: Logger): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { method, id: requestId, routeOptions } = request
    const { statusCode, elapsedTime } = reply
    log.debug({ requestId, method, route: routeOptions.url ?? null, status: statusCode, ms: elapsedTime }, 'request')
    done()
  })
}

/** A path with broken percent signs names nothing, which is for the router to find out: it refuses them with a status of its own. */
function readableUrl(url: string): string {
  if (!url.includes('%')) return url
  const end = url.indexOf('?')
  const path = end === -1 ? url : url.slice(0, end)
  try {
    decodeURIComponent(path)
    return url
  } catch {
    return path.replaceAll('%', '%25') + url.slice(path.length)
  }
}
