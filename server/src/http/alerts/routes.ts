import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type AlertBody, type AlertUpdateBody, type NewAlertBody, operations } from '../../../../contract/alerts.ts'
import type { Alert } from '../../domain/alerts/alert.ts'
import type { Context } from '../context.ts'
import { notFound } from '../errors.ts'
import { cutPage, requestedPage, sendPage } from '../page-body.ts'
import { overlapMs, publicIdParameter } from '../parameters.ts'
import { beforeBody, route } from '../route.ts'
import {
  requestedRules,
  requestedUpdate,
  toAddedAlertBody,
  toAlertBody,
  toAlertDeliveryBody,
  toRotatedAlertSecretBody,
  toTestedAlertBody,
} from './body.ts'

/** Where people are told about regressions. */
export function alertRoutes(app: FastifyInstance, { store, alerts }: Context): void {
  /** The alert in the path. One of another organisation is a 404, like an unknown ID. */
  async function alertOf({ params, access }: FastifyRequest): Promise<Alert> {
    const alert = await store.alerts.find(access.organisationId, publicIdParameter(params, 'alert_id', 'alr'))
    if (alert === null) throw notFound()
    return alert
  }

  async function toBodies(some: Alert[], organisationId: number): Promise<AlertBody[]> {
    const newest = await store.alertDeliveries.newestOfEach(organisationId)
    const byAlert = new Map(newest.map((delivery) => [delivery.alertId, delivery]))
    return some.map((alert) => {
      const last = byAlert.get(alert.id)
      return toAlertBody(alert, last === undefined ? null : { ...last, alert })
    })
  }

  async function toBody(alert: Alert): Promise<{ data: AlertBody }> {
    const [data] = (await toBodies([alert], alert.organisationId)) as [AlertBody]
    return { data }
  }

  route(app, operations.listAlerts, async (request, reply) => {
    const { organisationId } = request.access
    const all = await store.alerts.list(organisationId)
    const page = requestedPage(request.query)
    return sendPage(reply, await toBodies(cutPage(all, page), organisationId), page, all.length)
  })

  route(app, operations.addAlert, async (request, reply) => {
    const body = request.body as NewAlertBody
    const { organisationId } = request.access
    const { channel, target, slack_token: slackToken } = body
    const alert = { organisationId, channel, target, slackToken, ...requestedRules(body) }
    const added = await alerts.add(alert, request.access)
    return reply.status(201).send({ data: toAddedAlertBody(added) })
  })

  route(app, operations.getAlert, async (request) => toBody(await alertOf(request)))

  route(
    app,
    operations.updateAlert,
    async (request) => {
      const update = requestedUpdate(request.body as AlertUpdateBody)
      return toBody(await alerts.update(await alertOf(request), update, request.access))
    },
    beforeBody(alertOf),
  )

  route(app, operations.removeAlert, async (request, reply) => {
    await alerts.remove(await alertOf(request), request.access)
    return reply.status(204).send()
  })

  route(app, operations.testAlert, async (request) => {
    const alert = await alertOf(request)
    return { data: toTestedAlertBody(await alerts.test(alert, request.access)) }
  })

  route(
    app,
    operations.rotateAlertSecret,
    async (request) => {
      const alert = await alertOf(request)
      const rotated = await alerts.rotateSecret(alert, overlapMs(request.body), request.access)
      return { data: toRotatedAlertSecretBody(rotated) }
    },
    beforeBody(alertOf),
  )

  /** To alerts and pull requests: sent, failed and waiting. */
  async function sendDeliveries({ access, query }: FastifyRequest, reply: FastifyReply, alertId: number | null) {
    const page = requestedPage(query)
    const { deliveries, totalCount } = await store.alertDeliveries.page(access.organisationId, alertId, page)
    return sendPage(reply, deliveries.map(toAlertDeliveryBody), page, totalCount)
  }

  route(app, operations.listAlertDeliveries, (request, reply) => sendDeliveries(request, reply, null))

  route(app, operations.listDeliveriesOfAlert, async (request, reply) => {
    const { id } = await alertOf(request)
    return sendDeliveries(request, reply, id)
  })

  route(app, operations.retryAlertDelivery, async ({ params, access }, reply) => {
    const id = publicIdParameter(params, 'message_id', 'msg')
    const delivery = await store.alertDeliveries.find(access.organisationId, id)
    if (delivery === null) throw notFound()
    const pending = await alerts.retry(delivery, access)
    return reply.status(202).send({ data: toAlertDeliveryBody({ ...delivery, ...pending }) })
  })
}
