import type { FastifyInstance } from 'fastify'
import { operations } from '../../../../contract/signals.ts'
import type { Context } from '../context.ts'
import { notFound } from '../errors.ts'
import { idParameter } from '../parameters.ts'
import { route } from '../route.ts'

export function deleteSignalRoute({ store, clock }: Context) {
  return async (app: FastifyInstance) => {
    route(app, operations.retractSignal, async (request, reply) => {
      const { signal_id: id } = request.params as { signal_id: string }
      const { prompt, access } = request
      if (!(await store.signals.delete(prompt, idParameter(id), clock(), access))) throw notFound()
      return reply.status(204).send()
    })
  }
}
