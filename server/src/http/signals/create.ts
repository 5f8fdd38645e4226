import type { FastifyInstance } from 'fastify'
import { type RecordedSignal, recordSignal } from '../../domain/signals/signal.ts'
import type { Instant } from '../../domain/time.ts'
import { type Answer, json, send } from '../answer.ts'
import { crossOriginMessage } from '../auth.ts'
import type { Context } from '../context.ts'
import { errorBodySchema, errorSchema, rateLimitedBodySchema } from '../error-schema.ts'
import { promptParamsSchema } from '../prompts/id-schema.ts'
import { renderSignal } from './body.ts'
import { addRateLimitHeaders, rateLimitHeaders, rateLimitHeadersOf } from './rate-limit.ts'
import { newSignalSchema, replacedSignalSchema, signalHeadersSchema, signalSchema } from './schema.ts'
import { parseSignal } from './validation.ts'

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
    200: {
      description: replacedSignalSchema.description,
      headers: rateLimitHeaders,
      content: { 'application/json': { schema: replacedSignalSchema } },
    },
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
export const createSignalConfig = { roles: ['ingest', 'standard', 'admin'], light: true, changesSignals: true } as const

export function createSignalRoute(context: Context) {
  const { store, clock, planLimits, voters } = context
  return async (app: FastifyInstance) => {
    const onSend = addRateLimitHeaders(context)
    app.post('/prompts/:prompt_id/signals', { schema, onSend, config: createSignalConfig }, async (request, reply) => {
      const now = clock()
      const parsed = parseSignal(request, voters, now)
      const recorded = await recordSignal(
        store.signals,
        request.access,
        planLimits,
        parsed instanceof Promise ? await parsed : parsed,
        now,
      )
      return send(reply, recordedAnswer(recorded, now))
    })
  }
}

export function recordedAnswer({ signal, isNew, allowance }: RecordedSignal, now: Instant): Answer {
  return {
    status: isNew ? 201 : 200,
    headers: { ...rateLimitHeadersOf(allowance, now), ...json },
    body: `{"data":${renderSignal(signal)}}`,
  }
}
