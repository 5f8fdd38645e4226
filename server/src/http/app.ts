import Fastify, { type FastifyInstance, type onSendHookHandler, type RouteOptions } from 'fastify'
import type { Logger } from 'pino'
import { notFound } from '../domain/errors.ts'
import { api } from './api.ts'
import { consoleRoutes } from './console/routes.ts'
import type { Context, RequestObserver } from './context.ts'
import { referenceRoutes } from './docs/routes.ts'
import { errorHandler } from './errors.ts'
import { healthRoutes } from './health/routes.ts'
import { bodyLimit } from './json-bodies.ts'
import { type Admission, createAdmission } from './load-shedding.ts'
import { brokenRequestHandler } from './malformed-requests.ts'
import { requestIds } from './request-id.ts'
import { webhookRoutes } from './webhooks/routes.ts'

declare module 'fastify' {
  interface FastifyInstance {
    admission: Admission
  }
  interface FastifyRequest {
    /** When its headers were there, by the clock that never jumps. */
    arrivedAt: number
  }
}

const seconds = 1_000

/** Builds the service; listening is left to the caller. */
export function buildApp(context: Context): FastifyInstance {
  const { store, log, clock, observer: watch } = context
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
    bodyLimit,
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
  app.decorateRequest('arrivedAt', 0)
  app.addHook('onRequest', (request, reply, done) => {
    request.arrivedAt = performance.now()
    reply.header('X-Request-Id', request.id)
    done()
  })
  if (log.isLevelEnabled('debug')) logRequests(app, log)
  if (watch !== undefined) watchRequests(app, watch)

  const routes: RouteOptions[] = []
  app.addHook('onRoute', (route) => {
    routes.push(route)
  })

  app.register(healthRoutes(context))
  const admission = createAdmission(store.queues, log)
  app.decorate('admission', admission)
  // All but health, which is told whatever else is going on.
  app.register(async (guarded) => {
    admission.guard(guarded)
    guarded.register(referenceRoutes(routes))
    guarded.register(webhookRoutes(context))
    guarded.register(consoleRoutes(context))
    guarded.register(api(context), { prefix: '/api/v1' })
  })
  return app
}

function watchRequests(app: FastifyInstance, watch: RequestObserver): void {
  const tell = (route: number): onSendHookHandler => {
    return (request, reply, payload, done) => {
      watch.answered(route, reply.statusCode, performance.now() - request.arrivedAt)
      done(null, payload)
    }
  }
  // To each route by itself, since asking a request for its route costs more than all the counting.
  app.addHook('onRoute', (route) => {
    const number = watch.route([route.method].flat()[0] as string, route.url)
    route.onSend = [route.onSend ?? [], tell(number)].flat()
  })
  const tellOfNone = tell(watch.route('ANY', 'none'))
  app.addHook('onSend', function (request, reply, payload, done) {
    if (request.is404) tellOfNone.call(this, request, reply, payload, done)
    else done(null, payload)
  })
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
