import type { DoneFuncWithErrOrRes, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Allowance, recordSignal } from '../../domain/signals/signal.ts'
import { type Instant, nextMonthStart } from '../../domain/time.ts'
import { crossOriginMessage } from '../auth.ts'
import type { Context } from '../context.ts'
import { errorBodySchema, errorSchema, rateLimitedBodySchema } from '../error-schema.ts'
import { promptParamsSchema } from '../prompts/id-schema.ts'
import { renderSignal } from './body.ts'
import { newSignalSchema, signalHeadersSchema, signalSchema } from './schema.ts'
import { parseSignal } from './validation.ts'

const rateLimitHeaders = {
  'RateLimit-Limit': { description: "The plan's monthly signal limit", schema: { type: 'integer' } },
  'RateLimit-Remaining': { description: 'Signals left in the current month', schema: { type: 'integer' } },
  'RateLimit-Reset': { description: 'Seconds until the counter resets', schema: { type: 'integer' } },
}

const schema = {
  operationId: 'createSignal',
  summary: 'Create a signal',
  description:
    'Records whether a user liked an output of the prompt. Each signal counts towards the monthly limit of the ' +
    'organisation: Free 1,000, Team 10,000, Business 100,000 per calendar month, UTC, unless the operator has set other limits. ' +
    'Every response to a valid key says how much of the limit is left. Without a limit, these headers are absent.',
  tags: ['Signals'],
  headers: signalHeadersSchema,
  params: promptParamsSchema,
  body: newSignalSchema,
  response: {
    201: {
      description: signalSchema.description,
      headers: rateLimitHeaders,
      content: { 'application/json': { schema: signalSchema } },
    },
    401: errorBodySchema,
    403: errorSchema('forbidden', crossOriginMessage),
    404: errorBodySchema,
    422: errorSchema('validation_error', 'value is required'),
    429: rateLimitedBodySchema,
    500: errorBodySchema,
  },
}

// Keys that were created not to record signals get 403, like an ingest key that asks for history.
const config = { roles: ['ingest', 'standard', 'admin'], light: true } as const

export function createSignalRoute({ store, clock, planLimits }: Context) {
  return async (app: FastifyInstance) => {
    /** Adds the rate limit headers to responses that recorded nothing, errors included, once the caller is known. */
    function onSend(request: FastifyRequest, reply: FastifyReply, payload: unknown, done: DoneFuncWithErrOrRes): void {
      if (reply.hasHeader('RateLimit-Limit') || !request.access || reply.statusCode >= 500) {
        done(null, payload)
        return
      }
      const { organisationId, plan } = request.access
      const limit = planLimits[plan]
      if (limit === null) {
        done(null, payload)
        return
      }
      const now = clock()
      store.signals.usedInMonth(organisationId, now).then(
        (used) => {
          setRateLimitHeaders(reply, { limit, used, resetsAt: nextMonthStart(now) }, now)
          done(null, payload)
        },
        // The response is still valid without these headers.
        () => done(null, payload),
      )
    }

    app.post('/prompts/:prompt_id/signals', { schema, onSend, config }, async (request, reply) => {
      const now = clock()
      const { signal, allowance } = await recordSignal(
        store.signals,
        request.access,
        planLimits,
        parseSignal(request),
        now,
      )
      if (allowance !== null) setRateLimitHeaders(reply, allowance, now)
      return reply
        .status(201)
        .type('application/json; charset=utf-8')
        .send(`{"data":${renderSignal(signal)}}`)
    })
  }
}

function setRateLimitHeaders(reply: FastifyReply, { limit, used, resetsAt }: Allowance, now: Instant): void {
  if (limit === null) return
  reply.header('RateLimit-Limit', limit)
  reply.header('RateLimit-Remaining', Math.max(0, limit - used))
  reply.header('RateLimit-Reset', Math.max(1, Math.ceil((resetsAt - now) / 1_000)))
}
