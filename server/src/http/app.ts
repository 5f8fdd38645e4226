import type { Server, ServerResponse } from 'node:http'
import type { FastifyInstance, onSendHookHandler } from 'fastify'
import Fastify from 'fastify'
import type { Logger } from 'pino'
import { randomBase62 } from '../domain/random.ts'
import { createExportSlots, type ExportSlots } from './admission/export-slots.ts'
import { createLoadShedder, type LoadShedder } from './admission/load-shedder.ts'
import { limitPipelining } from './admission/pipelining.ts'
import { send } from './answer.ts'
import { api } from './api.ts'
import { type AuditThrottle, createAuditThrottle } from './audit/throttle.ts'
import { type ClientAddresses, createClientAddresses } from './client-address.ts'
import { createFileLookup } from './console/files.ts'
import { consoleNotFound, consoleRoutes } from './console/routes.ts'
import type { Context, RequestObserver } from './context.ts'
import { demoRoutes } from './demo/routes.ts'
import { docsRoutes } from './docs/routes.ts'
import { errorAnswers } from './errors.ts'
import { healthRoutes } from './health/routes.ts'
import { type ContentsReader, createContentsReader } from './history/contents.ts'
import { bodyLimit } from './json-bodies.ts'
import { createRejectedKeys, type RejectedKeys } from './keys/rejected.ts'
import { malformedRequestHandler } from './malformed-requests.ts'
import { mcpRoutes } from './mcp/routes.ts'
import { otlpRoutes } from './otlp/routes.ts'
import { commonHeaders } from './security-headers.ts'
import { type Cookies, createCookies } from './sessions/cookie.ts'
import { installShortPath, type Operation, operations, type ShortPath } from './short-path.ts'
import { createSignInDesk } from './sign-in/desk.ts'
import { signInRoutes } from './sign-in/routes.ts'
import { sourceEventRoutes } from './sources/routes.ts'
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
    cookies: Cookies
    shortPath: ShortPath | null
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
    connectionTimeout: connectionTimeoutMs,
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
  // Routes that take a body say which: no other is read.
  app.removeAllContentTypeParsers()
  const loadShedder = createLoadShedder(store.queues, limits, log)
  const observe = observer === undefined ? null : observeRequests(app, observer)
  const logsRequests = log.isLevelEnabled('debug')
  if (logsRequests) logRequests(app, log)
  let isClosing = false
  app.addHook('preClose', async () => {
    isClosing = true
  })
  function reportShort(operation: Operation, id: string, response: ServerResponse, arrivedAt: number): void {
    const { method, path: route } = operations[operation]
    observe?.(operation, response.statusCode, arrivedAt)
    if (!logsRequests) return
    response.once('finish', () =>
      logRequest(log, id, method, route, response.statusCode, performance.now() - arrivedAt),
    )
  }
  const shortPath =
    context.shortPath === false
      ? null
      : installShortPath(app.server, context, {
          loadShedder,
          requestId,
          report: reportShort,
          isClosing: () => isClosing,
        })
  app.decorate('shortPath', shortPath)
  limitPipelining(app.server)
  advertiseKeepAlive(app.server)
  // Otherwise Node responds to an unknown `Expect` header itself, with 417, which the API does not define.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))

  const errorAnswer = errorAnswers(log, clock)
  app.setErrorHandler((error, request, reply) => send(reply, errorAnswer(error, request.id)))
  const consoleFiles = createFileLookup(context.consoleFolder)
  app.setNotFoundHandler(consoleNotFound(consoleFiles))
  app.decorateRequest('arrivedAt', 0)
  app.addHook('onRequest', (request, reply, done) => {
    request.arrivedAt = performance.now()
    reply.headers(commonHeaders(request.id, publicUrl()))
    done()
  })

  const plugin = (routes: (app: FastifyInstance, context: Context) => void) => {
    return async (app: FastifyInstance) => routes(app, context)
  }
  app.register(plugin(healthRoutes))
  app.decorate('loadShedder', loadShedder)
  app.decorate('exports', createExportSlots(loadShedder))
  app.decorate('contents', createContentsReader(context.repositories))
  app.decorate('auditThrottle', createAuditThrottle(store.audit, clock))
  app.decorate('clientAddresses', createClientAddresses(trustedProxies))
  app.decorate('cookies', createCookies(store.databaseCreatedAt, publicUrl))
  app.decorate('rejectedKeys', createRejectedKeys(app.auditThrottle, app.clientAddresses, log, clock))
  flushRegularly(app, log)
  const signInDesk = createSignInDesk(context)
  // Health checks stay outside: they must respond under overload too.
  app.register(async (guarded) => {
    loadShedder.guard(guarded)
    guarded.register(plugin(docsRoutes))
    guarded.register(plugin(webhookRoutes))
    guarded.register(async (app) => consoleRoutes(app, consoleFiles))
    guarded.register(plugin(mcpRoutes))
    guarded.register(plugin(otlpRoutes))
    const { demo } = context
    if (demo !== undefined) guarded.register(async (app) => demoRoutes(app, demo, consoleFiles))
    guarded.register(async (app) => signInRoutes(app, context, signInDesk))
    guarded.register(async (app) => api(app, context, signInDesk), { prefix: '/api/v1' })
    guarded.register(plugin(voteRoutes), { prefix: '/api/v1' })
    guarded.register(plugin(sourceEventRoutes), { prefix: '/api/v1' })
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

/** Returns how to report a response of the short path, which no hook sees. */
function observeRequests(app: FastifyInstance, observer: RequestObserver) {
  const handles: Partial<Record<Operation, number>> = {}
  const report = (route: number): onSendHookHandler => {
    return (request, reply, payload, done) => {
      observer.responded(route, reply.statusCode, performance.now() - request.arrivedAt)
      done(null, payload)
    }
  }
  // One hook per route: looking up a request's route at runtime costs more than all the counting.
  app.addHook('onRoute', (route) => {
    const method = [route.method].flat()[0] as string
    const handle = observer.route(method, route.url)
    for (const name of Object.keys(operations) as Operation[]) {
      if (method === operations[name].method && route.url === operations[name].path) handles[name] = handle
    }
    route.onSend = [route.onSend ?? [], report(handle)].flat()
  })
  const reportUnmatched = report(observer.route('ANY', 'none'))
  app.addHook('onSend', function (request, reply, payload, done) {
    if (request.is404) reportUnmatched.call(this, request, reply, payload, done)
    else done(null, payload)
  })
  return (operation: Operation, status: number, arrivedAt: number) =>
    observer.responded(handles[operation] as number, status, performance.now() - arrivedAt)
}

/** Logs the route pattern rather than the URL, and no headers, so that keys and user input stay out of the log. */
function logRequests(app: FastifyInstance, log: Logger): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { method, id, routeOptions } = request
    logRequest(log, id, method, routeOptions.url ?? null, reply.statusCode, reply.elapsedTime)
    done()
  })
}

function logRequest(
  log: Logger,
  requestId: string,
  method: string,
  route: string | null,
  status: number,
  ms: number,
): void {
  log.debug({ requestId, method, route, status, ms }, 'request')
}

/** Escapes a path that cannot be percent-decoded, so that it gets a 404: the router would respond 400, which the API does not define. */
function escapeInvalidPercent(url: string): string {
  if (!url.includes('%')) return url
  const end = url.indexOf('?')
  const path = end === -1 ? url : url.slice(0, end)
  return isDecodable(path) ? url : path.replaceAll('%', '%25') + url.slice(path.length)
}

function isDecodable(path: string): boolean {
  try {
    // The result is used, because the bundler drops a call whose result is not: it takes the function to be pure.
    return decodeURIComponent(path) !== ''
  } catch {
    return false
  }
}

const validId = /^[\w.-]{1,128}$/

/** Assigns request ids. A valid id from a proxy is reused, so that its log and ours can be correlated. */
function createRequestIds(): (request: { headers: NodeJS.Dict<string | string[]> }) => string {
  const prefix = randomBase62(8)
  let count = 0
  return ({ headers }) => {
    const given = headers['x-request-id']
    return typeof given === 'string' && validId.test(given) ? given : `${prefix}-${(++count).toString(36)}`
  }
}

/** After this long without a byte in either direction, a connection is closed, whether it is idle or its client does not read. */
const connectionTimeoutMs = 73_000
/** A second less is what clients are told, so that they do not use a connection that is being closed. */
const advertisedMs = 72_000

/**
 * Tells clients how long idle connections stay open, as Node does if it limits that itself. It would replace the timer of the
 * connection twice per request. The timer for silent connections runs anyway, and only starts again with each read and write.
 */
function advertiseKeepAlive(server: Server): void {
  server.keepAliveTimeout = 0
  server.prependListener('request', (_request, response: ServerResponse & { _keepAliveTimeout?: number }) => {
    response._keepAliveTimeout = advertisedMs
  })
}
