import type { FastifyInstance, FastifyRequest } from 'fastify'
import { operations } from '../../../../contract/alerts.ts'
import type { ListedAlertDelivery } from '../../domain/alerts/delivery.ts'
import type { Context } from '../context.ts'
import { notFound } from '../errors.ts'
import { renderPage, requestedPage } from '../page-body.ts'
import { publicIdParameter } from '../parameters.ts'
import { route } from '../route.ts'
import { alertOf } from './alert-of.ts'
import { toAlertDeliveryBody } from './body.ts'

/** What was sent to alerts and pull requests, and what is waiting. */
export function alertDeliveryRoutes({ store, alerts }: Context) {
  async function pageOf(request: FastifyRequest, alertId: number | null): Promise<string> {
    const page = requestedPage(request.query)
    const { deliveries, totalCount } = await store.alertDeliveries.page(request.access.organisationId, alertId, page)
    return renderPage(deliveries.map(toAlertDeliveryBody), page, totalCount)
  }

  async function deliveryOf({ params, access }: FastifyRequest): Promise<ListedAlertDelivery> {
    const { message_id: id } = params as { message_id: string }
    const delivery = await store.alertDeliveries.find(access.organisationId, publicIdParameter('msg', id))
    if (delivery === null) throw notFound()
    return delivery
  }

  return async (app: FastifyInstance) => {
    route(app, operations.listAlertDeliveries, async (request, reply) =>
      reply.type('application/json; charset=utf-8').send(await pageOf(request, null)),
    )

    route(app, operations.listDeliveriesOfAlert, async (request, reply) => {
      const { id } = await alertOf(store, request)
      return reply.type('application/json; charset=utf-8').send(await pageOf(request, id))
    })

    route(app, operations.retryAlertDelivery, async (request, reply) => {
      const delivery = await deliveryOf(request)
      const pending = await alerts.retry(delivery, request.access)
      return reply.status(202).send({ data: toAlertDeliveryBody({ ...delivery, ...pending }) })
    })
  }
}
