import type { FastifyInstance } from 'fastify'
import { operations } from '../../../../contract/repositories.ts'
import { pageOffset } from '../../domain/page.ts'
import type { Context } from '../context.ts'
import { notFound } from '../errors.ts'
import { renderPage, requestedPage } from '../page-body.ts'
import { idParameter } from '../parameters.ts'
import { route } from '../route.ts'
import { toDeliveryBody } from './body.ts'

import { repositoryOf } from './repository-of.ts'

const maxDeliveries = 1_000

/** The webhook deliveries of a repository. */
export function deliveryRoutes({ store, repositories }: Context) {
  return async (app: FastifyInstance) => {
    route(app, operations.listDeliveries, async (request, reply) => {
      const all = await store.deliveries.list(await repositoryOf(store, request), maxDeliveries)
      const page = requestedPage(request.query)
      const offset = pageOffset(page)
      const bodies = all.slice(offset, offset + page.limit).map(toDeliveryBody)
      return reply.type('application/json; charset=utf-8').send(renderPage(bodies, page, all.length))
    })

    route(app, operations.redeliver, async (request, reply) => {
      const repository = await repositoryOf(store, request)
      const { delivery_id: id } = request.params as { delivery_id: string }
      const delivery = await store.deliveries.find(idParameter(id))
      if (delivery === null || delivery.repositoryId !== repository.id) throw notFound()
      return reply.status(202).send({ data: toDeliveryBody(await repositories.redeliver(delivery)) })
    })
  }
}
