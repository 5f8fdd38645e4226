import Fastify, { type FastifyInstance, type onSendHookHandler, type RouteOptions } from 'fastify'
import type { Logger } from 'pino'
import { api } from './api.ts'
import { type AuditThrottle, createAuditThrottle } from './audit/throttle.ts'
import { type ClientAddresses, createClientAddresses } from './client-address.ts'
import { createFileLookup } from './console/files.ts'
import { consoleNotFound, consoleRoutes } from './console/routes.ts'
import type { Context, RequestObserver } from './context.ts'
import { demoRoutes } from './demo/routes.ts'
import { docsRoutes } from './docs/routes.ts'
import { errorHandler } from './errors.ts'
import { createExportSlots, type ExportSlots } from './export-slots.ts'
import { healthRoutes } from './health/routes.ts'
import { type ContentsReader, createContentsReader } from './history/contents.ts'
import { bodyLimit } from './json-bodies.ts'
import { createRejectedKeys, type RejectedKeys } from './keys/rejected.ts'
import { createLoadShedder, type LoadShedder } from './load-shedding.ts'
import { malformedRequestHandler } from './malformed-requests.ts'
import { mcpRoutes } from './mcp/routes.ts'
import { limitPipelining } from './pipelining.ts'
import { createRequestIds } from './request-id.ts'
import { setSecurityHeaders } from './security-headers.ts'
import { voteRoutes } from './votes/routes.ts'
import { webhookRoutes } from './webhooks/routes.ts'

declare module 'fastify' {
  interface FastifyInstance {
    loadShedder: LoadShedder
    auditThrottle: AuditThrottle
    exports: ExportSlots
    contents: ContentsReader
    rejectedKeys: RejectedKeys
    clientAddresses: ClientAddresses
  }
  interface FastifyRequest {
    /** When the headers arrived, on the monotonic clock. */
    arrivedAt: number
  }
}

const secondMs = 1_000
const auditFlushIntervalMs = 10 * secondMs

/** Builds the service. The caller decides where it listens. */
export function buildApp(context: Context): FastifyInstance {
  const { store, log, clock, limits, publicUrl, trustedProxies, observer } = context
  const requestId = createRequestIds()
  const app = Fastify({
    // Fastify's logger would create a child logger per request, even where nothing is logged.
    logger: false,
    genReqId: requestId,
    // Slow and idle clients must not hold connections forever.
    requestTimeout: 30 * secondMs,
    keepAliveTimeout: 72 * secondMs,
    // Nothing was sent or received for this long: the client does not read its response.
    connectionTimeout: 60 * secondMs,
    http: { headersTimeout: 15 * secondMs, connectionsCheckingInterval: 5 * secondMs, requireHostHeader: false },
    // During shutdown, requests on open connections still get their response, with `Connection: close`.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    exposeHeadRoutes: false,
    bodyLimit,
    rewriteUrl: ({ url = '/' }) => escapeInvalidPercent(url),
    // Ids of any length must reach the handler and get the same 404.
    routerOptions: { maxParamLength: 16_384 },
    clientErrorHandler: malformedRequestHandler(() => requestId({ headers: {} })),
    // Routes serialise their own responses, and response schemas only feed the documentation and the tests. So do request schemas,
    // except for bodies under /api/v1. Without factories of ours, Fastify loads its own, which takes a tenth of the start.
    schemaController: {
      compilersFactory: {
        buildSerializer: () => () => JSON.stringify,
        // Fastify's type asks for a function of Ajv.
        buildValidator: (() => () => () => true) as never,
      },
    },
  })
  limitPipelining(app.server)
  // Otherwise Node responds to an unknown `Expect` header itself, with 417, which the API does not define.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))

  app.setErrorHandler(errorHandler(log, clock))
  const consoleFiles = createFileLookup(context.consoleFolder)
  app.setNotFoundHandler(consoleNotFound(consoleFiles))
  app.decorateRequest('arrivedAt', 0)
  app.addHook('onRequest', (request, reply, done) => {
    request.arrivedAt = performance.now()
    reply.header('X-Request-Id', request.id)
    setSecurityHeaders(reply, publicUrl())
    done()
  })
  if (log.isLevelEnabled('debug')) logRequests(app, log)
  if (observer !== undefined) observeRequests(app, observer)

  const routes: RouteOptions[] = []
  app.addHook('onRoute', (route) => {
    routes.push(route)
  })

  app.register(healthRoutes(context))
  const loadShedder = createLoadShedder(store.queues, limits, log)
  app.decorate('loadShedder', loadShedder)
  app.decorate('exports', createExportSlots(loadShedder))
  app.decorate('contents', createContentsReader(context.repositories))
  app.decorate('auditThrottle', createAuditThrottle(store.audit, clock))
  app.decorate('clientAddresses', createClientAddresses(trustedProxies))
  app.decorate('rejectedKeys', createRejectedKeys(app.auditThrottle, app.clientAddresses, log, clock))
  flushRegularly(app, log)
  // Health checks stay outside: they must respond under overload too.
  app.register(async (guarded) => {
    loadShedder.guard(guarded)
    guarded.register(docsRoutes(routes))
    guarded.register(webhookRoutes(context))
    guarded.register(consoleRoutes(consoleFiles, publicUrl))
    guarded.register(mcpRoutes(context))
    if (context.demo !== undefined) guarded.register(demoRoutes(context.demo, consoleFiles))
    guarded.register(api(context), { prefix: '/api/v1' })
    guarded.register(voteRoutes(context), { prefix: '/api/v1' })
  })
  return app
}

/** Also after the last request: the database is still open then. */
function flushRegularly(app: FastifyInstance, log: Logger): void {
  const flush = (all = false) =>
    app.auditThrottle.flush(all).catch((error) => log.warn({ err: error }, 'could not write to the audit log'))
  const timer = setInterval(flush, auditFlushIntervalMs).unref()
  app.addHook('onClose', async () => {
    clearInterval(timer)
    await flush(true)
  })
}

function observeRequests(app: FastifyInstance, observer: RequestObserver): void {
  const report = (route: number): onSendHookHandler => {
    return (request, reply, payload, done) => {
      observer.responded(route, reply.statusCode, performance.now() - request.arrivedAt)
      done(null, payload)
    }
  }
  // One hook per route: looking up a request's route at runtime costs more than all the counting.
  app.addHook('onRoute', (route) => {
    const handle = observer.route([route.method].flat()[0] as string, route.url)
    route.onSend = [route.onSend ?? [], report(handle)].flat()
  })
  const reportUnmatched = report(observer.route('ANY', 'none'))
  app.addHook('onSend', function (request, reply, payload, done) {
    if (request.is404) reportUnmatched.call(this, request, reply, payload, done)
    else done(null, payload)
  })
}

/** Logs the route pattern rather than the URL, and no headers, so that keys and user input stay out of the log. */
function logRequests(app: FastifyInstance, log: Logger): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { method, id: requestId, routeOptions } = request
    const { statusCode, elapsedTime } = reply
    log.debug({ requestId, method, route: routeOptions.url ?? null, status: statusCode, ms: elapsedTime }, 'request')
    done()
  })
}

/** Escapes a path that cannot be percent-decoded, so that it gets a 404: the router would respond 400, which the API does not define. */
function escapeInvalidPercent(url: string): string {
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
