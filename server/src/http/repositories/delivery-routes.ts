import type { FastifyInstance } from 'fastify'
import { pageOffset } from '../../domain/page.ts'
import type { Context } from '../context.ts'
import { errorBodySchema, unexpectedBodySchema } from '../error-schema.ts'
import { notFound } from '../errors.ts'
import { renderPage, requestedPage } from '../page-body.ts'
import { pageQuerySchema } from '../page-schema.ts'
import { idParameter } from '../parameters.ts'
import { toDeliveryBody } from './body.ts'
import { deliveryPageSchema, deliveryParamsSchema, oneDeliverySchema } from './delivery-schema.ts'
import { repositoryOf } from './repository-of.ts'
import { repositoryParamsSchema } from './schema.ts'

const config = { roles: ['admin'] } as const
const errors = { 401: errorBodySchema, 403: errorBodySchema, 404: errorBodySchema, 500: errorBodySchema }
const tags = ['Repositories']
const maxDeliveries = 1_000

/** The webhook deliveries of a repository. */
export function deliveryRoutes({ store, repositories }: Context) {
  return async (app: FastifyInstance) => {
    app.get(
      '/repositories/:repository_id/deliveries',
      {
        schema: {
          operationId: 'listDeliveries',
          summary: 'List deliveries',
          description: 'The newest 1,000 webhook deliveries, newest first.',
          tags,
          params: repositoryParamsSchema,
          querystring: pageQuerySchema,
          response: { 200: deliveryPageSchema, ...errors },
        },
        config,
      },
      async (request, reply) => {
        const all = await store.deliveries.list(await repositoryOf(store, request), maxDeliveries)
        const page = requestedPage(request.query)
        const offset = pageOffset(page)
        const bodies = all.slice(offset, offset + page.limit).map(toDeliveryBody)
        return reply.type('application/json; charset=utf-8').send(renderPage(bodies, page, all.length))
      },
    )

    app.post(
      '/repositories/:repository_id/deliveries/:delivery_id/redeliver',
      {
        schema: {
          operationId: 'redeliver',
          summary: 'Redeliver',
          description: 'Processes a stored delivery again.',
          tags,
          params: deliveryParamsSchema,
          response: { 202: oneDeliverySchema, ...errors, 409: errorBodySchema, 422: unexpectedBodySchema },
        },
        config,
      },
      async (request, reply) => {
        const repository = await repositoryOf(store, request)
        const { delivery_id: id } = request.params as { delivery_id: string }
        const delivery = await store.deliveries.find(idParameter(id))
        if (delivery === null || delivery.repositoryId !== repository.id) throw notFound()
        return reply.status(202).send({ data: toDeliveryBody(await repositories.redeliver(delivery)) })
      },
    )
  }
}
