import type { FastifyInstance } from 'fastify'
import { memberText } from '../../domain/json-text.ts'
import { checkMetadata, recordSignal, type Signal } from '../../domain/signal.ts'
import { isoTime } from '../../domain/time.ts'
import type { Context } from '../app.ts'
import { errorBodySchema, rateLimitedBodySchema } from '../schemas/error.ts'
import { promptParamsSchema } from '../schemas/prompt.ts'
import { type NewSignalBody, newSignalSchema, signalSchema } from '../schemas/signal.ts'

const schema = {
  params: promptParamsSchema,
  body: newSignalSchema,
  response: {
    201: signalSchema,
    401: errorBodySchema,
    404: errorBodySchema,
    422: errorBodySchema,
    429: rateLimitedBodySchema,
    500: errorBodySchema,
  },
}

export function signalRoutes({ store, clock }: Context) {
  return async (app: FastifyInstance) => {
    app.post('/prompts/:prompt_id/signals', { schema }, async (request, reply) => {
      const { value, metadata } = request.body as NewSignalBody
      const signal = await recordSignal(
        store.signals,
        request.access,
        {
          prompt: request.prompt,
          value,
          metadata: metadata == null ? null : checkMetadata(memberText(request.bodyText, 'metadata') as string),
          body: request.bodyText,
          idempotencyKey: request.headers['idempotency-key'] as string | undefined,
        },
        clock(),
      )
      return reply.status(201).type('application/json; charset=utf-8').send(render(signal))
    })
  }
}

function render({ id, value, createdAt }: Signal): string {
  return `{"data":{"id":${id},"value":"${value}","created_at":"${isoTime(createdAt)}"}}`
}
