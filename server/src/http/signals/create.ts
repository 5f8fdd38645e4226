import type { DoneFuncWithErrOrRes, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { monthlySignalLimit } from '../../domain/access/plan.ts'
import { memberText } from '../../domain/signals/json-text.ts'
import { type Allowance, checkMetadata, recordSignal, type Signal } from '../../domain/signals/signal.ts'
import { type Instant, isoTime, nextMonthStart } from '../../domain/time.ts'
import { otherOrigin } from '../auth.ts'
import type { Context } from '../context.ts'
import { errorBodySchema, errorSchema, rateLimitedBodySchema } from '../error-schema.ts'
import { promptParamsSchema } from '../prompts/id-schema.ts'
import { type NewSignalBody, newSignalSchema, signalHeadersSchema, signalSchema } from './schema.ts'

const allowance = {
  'RateLimit-Limit': { description: "The plan's monthly signal limit", schema: { type: 'integer' } },
  'RateLimit-Remaining': { description: 'What is left of it', schema: { type: 'integer' } },
  'RateLimit-Reset': { description: 'Seconds until the counter resets', schema: { type: 'integer' } },
}

const schema = {
  operationId: 'createSignal',
  summary: 'Create a signal',
  description:
    'Records what somebody thought of an output of the prompt. Each signal counts toward the monthly limit of the ' +
    'organisation: Free 1,000, Team 10,000, Business 100,000 in a calendar month, UTC. Every answer to a valid key ' +
    'tells what is left.',
  tags: ['Signals'],
  headers: signalHeadersSchema,
  params: promptParamsSchema,
  body: newSignalSchema,
  response: {
    201: {
      description: signalSchema.description,
      headers: allowance,
      content: { 'application/json': { schema: signalSchema } },
    },
    401: errorBodySchema,
    403: errorSchema('forbidden', otherOrigin),
    404: errorBodySchema,
    422: errorSchema('validation_error', 'value must be given'),
    429: rateLimitedBodySchema,
    500: errorBodySchema,
  },
}

export function signalRoutes({ store, clock }: Context) {
  return async (app: FastifyInstance) => {
    /** What is left of the month's limit goes with every answer to somebody whom we know. */
    function onSend(request: FastifyRequest, reply: FastifyReply, payload: unknown, done: DoneFuncWithErrOrRes): void {
      if (reply.hasHeader('RateLimit-Limit') || !request.access || reply.statusCode >= 500) {
        done(null, payload)
        return
      }
      const { organisationId, plan } = request.access
      const now = clock()
      store.signals.used(organisationId, now).then(
        (used) => {
          tellAllowance(reply, { limit: monthlySignalLimit[plan], used, resetsAt: nextMonthStart(now) }, now)
          done(null, payload)
        },
        // The answer itself does not depend on it.
        () => done(null, payload),
      )
    }

    app.post('/prompts/:prompt_id/signals', { schema, onSend }, async (request, reply) => {
      const { value, metadata } = request.body as NewSignalBody
      const now = clock()
      const { signal, allowance } = await recordSignal(
        store.signals,
        request.access,
        {
          prompt: request.prompt,
          value,
          metadata: metadata == null ? null : checkMetadata(memberText(request.bodyText, 'metadata') as string),
          body: request.bodyText,
          idempotencyKey: request.headers['idempotency-key'] as string | undefined,
        },
        now,
      )
      if (allowance !== null) tellAllowance(reply, allowance, now)
      return reply.status(201).type('application/json; charset=utf-8').send(render(signal))
    })
  }
}

function tellAllowance(reply: FastifyReply, { limit, used, resetsAt }: Allowance, now: Instant): void {
  reply.header('RateLimit-Limit', limit)
  reply.header('RateLimit-Remaining', Math.max(0, limit - used))
  reply.header('RateLimit-Reset', Math.max(1, Math.ceil((resetsAt - now) / 1_000)))
}

function render({ id, value, createdAt }: Signal): string {
  return `{"data":{"id":${id},"value":"${value}","created_at":"${isoTime(createdAt)}"}}`
}
