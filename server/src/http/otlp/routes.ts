import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { signalRoles } from '../../domain/access/api-key.ts'
import type { TelemetryKind } from '../../domain/telemetry/telemetry.ts'
import { authenticate } from '../auth.ts'
import type { Context } from '../context.ts'
import { asDomainError, errorMessage, statusOf } from '../errors.ts'
import { requireKey } from '../keys/required.ts'
import { lazy } from '../lazy.ts'
import { contentTypes, type Encoding, encodeStatus } from './response.ts'

/** Where exporters send to, below the URL of the service. */
export const otlpPaths = { logs: '/v1/logs', spans: '/v1/traces' } as const
// As sent. What is compressed may have more: see endpoint.ts.
const otlpBodyLimit = 4 * 1024 * 1024

const retryAfterSeconds = 5

/**
 * OpenTelemetry over HTTP. A protocol of others, so not in the documentation of the API: see docs/opentelemetry.md. Errors have the
 * statuses and the body that the protocol defines, because exporters retry 503 and drop everything else.
 */
export function otlpRoutes(app: FastifyInstance, context: Context): void {
  const { store, planLimits, clock, log, organisationLimits } = context
  const loadEndpoint = lazy(() => import('./endpoint.ts'))

  for (const type of Object.values(contentTypes)) {
    app.addContentTypeParser(type, { parseAs: 'buffer', bodyLimit: otlpBodyLimit }, (_request, bytes, done) =>
      done(null, bytes),
    )
  }
  app.setErrorHandler((error, request, reply) => sendStatus(request, reply, error as Error))
  requireKey(app, context, (request, _reply, now) => authenticate(store, app.rejectedKeys, request, now))

  for (const kind of Object.keys(otlpPaths) as TelemetryKind[]) {
    app.route({
      method: 'POST',
      url: otlpPaths[kind],
      bodyLimit: otlpBodyLimit,
      config: { roles: signalRoles, batch: true, changesSignals: true },
      handler: async (request, reply) => {
        const encoding = encodingOf(request)
        const compression = request.headers['content-encoding'] ?? 'identity'
        if (compression !== 'gzip' && compression !== 'identity') throw unsupported('Content-Encoding', 'gzip')
        const { receive } = await loadEndpoint()
        const body = await receive(
          kind,
          encoding,
          (request.body as Buffer | undefined) ?? Buffer.alloc(0),
          compression === 'gzip',
          { store, access: request.access, planLimits, now: clock(), days: organisationLimits.telemetryDays },
        )
        return reply.type(contentTypes[encoding]).send(body)
      },
    })
  }

  function sendStatus(request: FastifyRequest, reply: FastifyReply, error: Error): FastifyReply {
    const { status, message } = answerTo(error)
    if (status === 503) {
      reply.header('retry-after', retryAfterSeconds)
      if (isUnexpected(error)) log.error({ requestId: request.id, err: error }, 'telemetry could not be stored')
    }
    if (status === 401) reply.header('www-authenticate', 'Bearer')
    const encoding = encodingOf(request)
    const code = grpcCodes[status] ?? unknownCode
    return reply
      .status(status)
      .type(contentTypes[encoding])
      .send(encodeStatus(encoding, code, message))
  }
}

/** By the protocol, a response has the type of its request. Anything else gets JSON, which people can read. */
function encodingOf({ headers }: FastifyRequest): Encoding {
  return headers['content-type']?.startsWith(contentTypes.protobuf) ? 'protobuf' : 'json'
}

const unknownCode = 2
const grpcCodes: Record<number, number> = { 400: 3, 401: 16, 403: 7, 404: 5, 413: 8, 415: 3, 503: 14 }

interface OwnStatus extends Error {
  status: number
}

function unsupported(header: string, supported: string): OwnStatus {
  return Object.assign(new Error(`The header ${header} must be ${supported}`), { status: 415 })
}

function answerTo(error: Error): { status: number; message: string } {
  if ('status' in error && typeof error.status === 'number') return { status: error.status, message: error.message }
  const { code, statusCode } = error as FastifyError
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return { status: 413, message: `The body has more than ${otlpBodyLimit / 1024 / 1024} MiB: lower the batch size` }
  }
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return { status: 415, message: unsupported('Content-Type', Object.values(contentTypes).join(' or ')).message }
  }
  if (statusCode !== undefined && statusCode < 500) return { status: 400, message: error.message }
  const known = asDomainError(error)
  const status = statusOf[known.code]
  // Exporters give up after 500.
  return { status: status === 500 ? 503 : status, message: errorMessage(known) }
}

function isUnexpected(error: Error): boolean {
  return asDomainError(error) !== error
}
