import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ListedAlertDelivery } from '../../domain/alerts/delivery.ts'
import type { Context } from '../context.ts'
import { errorBodySchema, errorSchema, unexpectedBodySchema } from '../error-schema.ts'
import { notFound } from '../errors.ts'
import { renderPage, requestedPage } from '../page-body.ts'
import { pageQuerySchema } from '../page-schema.ts'
import { publicIdParameter } from '../parameters.ts'
import { alertOf } from './alert-of.ts'
import { toAlertDeliveryBody } from './body.ts'
import { alertDeliveryPageSchema, alertDeliveryParamsSchema, oneAlertDeliverySchema } from './delivery-schema.ts'
import { alertParamsSchema } from './schema.ts'

const config = { roles: ['admin'] } as const
const errors = { 401: errorBodySchema, 403: errorBodySchema, 500: errorBodySchema }
const tags = ['Alerts']

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
    app.get(
      '/alerts/deliveries',
      {
        schema: {
          operationId: 'listAlertDeliveries',
          summary: 'List the deliveries of all alerts',
          description:
            'What was sent, what is waiting and what failed, of the last 90 days, newest first. Includes comments on pull ' +
            'requests, and deliveries of alerts that were removed.',
          tags,
          querystring: pageQuerySchema,
          response: { 200: alertDeliveryPageSchema, ...errors },
        },
        config,
      },
      async (request, reply) => reply.type('application/json; charset=utf-8').send(await pageOf(request, null)),
    )

    app.get(
      '/alerts/:alert_id/deliveries',
      {
        schema: {
          operationId: 'listDeliveriesOfAlert',
          summary: 'List the deliveries of an alert',
          description: 'Newest first.',
          tags,
          params: alertParamsSchema,
          querystring: pageQuerySchema,
          response: { 200: alertDeliveryPageSchema, ...errors, 404: errorBodySchema },
        },
        config,
      },
      async (request, reply) => {
        const { id } = await alertOf(store, request)
        return reply.type('application/json; charset=utf-8').send(await pageOf(request, id))
      },
    )

    app.post(
      '/alerts/deliveries/:message_id/retry',
      {
        schema: {
          operationId: 'retryAlertDelivery',
          summary: 'Retry a failed delivery',
          description: 'Sends it again at once, with the same ID, and retries for another 3 days.',
          tags,
          params: alertDeliveryParamsSchema,
          response: {
            202: oneAlertDeliverySchema,
            ...errors,
            404: errorBodySchema,
            409: errorSchema('conflict', 'Only a delivery that failed can be sent again.'),
            422: unexpectedBodySchema,
          },
        },
        config,
      },
      async (request, reply) => {
        const delivery = await deliveryOf(request)
        const pending = await alerts.retry(delivery, request.access)
        return reply.status(202).send({ data: toAlertDeliveryBody({ ...delivery, ...pending }) })
      },
    )
  }
}
