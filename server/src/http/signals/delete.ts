import type { FastifyInstance } from 'fastify'
import type { Context } from '../context.ts'
import { errorBodySchema, unexpectedBodySchema } from '../error-schema.ts'
import { notFound } from '../errors.ts'
import { idParameter } from '../parameters.ts'
import { signalParamsSchema } from './schema.ts'

const schema = {
  operationId: 'retractSignal',
  summary: 'Delete a signal',
  description: 'Removes the signal from all lists and statistics. It still counts towards the monthly limit.',
  tags: ['Signals'],
  params: signalParamsSchema,
  response: {
    204: { type: 'null', description: 'The signal is deleted' },
    401: errorBodySchema,
    403: errorBodySchema,
    404: errorBodySchema,
    422: unexpectedBodySchema,
    500: errorBodySchema,
  },
}

export function deleteSignalRoute({ store, clock }: Context) {
  return async (app: FastifyInstance) => {
    app.delete(
      '/prompts/:prompt_id/signals/:signal_id',
      { schema, config: { roles: ['standard', 'admin'], changesSignals: true } },
      async (request, reply) => {
        const { signal_id: id } = request.params as { signal_id: string }
        const { prompt, access } = request
        if (!(await store.signals.delete(prompt, idParameter(id), clock(), access))) throw notFound()
        return reply.status(204).send()
      },
    )
  }
}
