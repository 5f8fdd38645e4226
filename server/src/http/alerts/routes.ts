import type { FastifyInstance } from 'fastify'
import { type Alert, tooManyAlerts } from '../../domain/alerts/alert.ts'
import { TestLimitError } from '../../domain/alerts/alert-service.ts'
import { pageOffset } from '../../domain/page.ts'
import { hour } from '../../domain/time.ts'
import type { Context } from '../context.ts'
import { errorBodySchema, errorSchema, unexpectedBodySchema } from '../error-schema.ts'
import { errorBody } from '../errors.ts'
import { defaultOverlapHours, type OverlapBody, overlapSchema } from '../overlap-schema.ts'
import { renderPage, requestedPage } from '../page-body.ts'
import { pageQuerySchema } from '../page-schema.ts'
import { alertOf } from './alert-of.ts'
import {
  requestedRules,
  requestedUpdate,
  toAddedAlertBody,
  toAlertBody,
  toRotatedAlertSecretBody,
  toTestedAlertBody,
} from './body.ts'
import { alertDeliveryRoutes } from './delivery-routes.ts'
import {
  type AlertBody,
  type AlertUpdateBody,
  addedAlertSchema,
  alertPageSchema,
  alertParamsSchema,
  alertUpdateSchema,
  type NewAlertBody,
  newAlertSchema,
  oneAlertSchema,
  rotatedAlertSecretSchema,
  testedAlertSchema,
  testLimitSchema,
} from './schema.ts'

const config = { roles: ['admin'] } as const
const errors = { 401: errorBodySchema, 403: errorBodySchema, 500: errorBodySchema }
const errorsWithNotFound = { ...errors, 404: errorBodySchema }
const params = alertParamsSchema
const tags = ['Alerts']
const testLimitExample = JSON.parse(errorBody(new TestLimitError(10, 10, Date.UTC(2026, 10, 15, 12, 1))))

/** Where people are told about regressions. */
export function alertRoutes(context: Context) {
  const { store, alerts } = context

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

  return async (app: FastifyInstance) => {
    app.get(
      '/alerts',
      {
        schema: {
          operationId: 'listAlerts',
          summary: 'List alerts',
          description: 'In the order in which they were added.',
          tags,
          querystring: pageQuerySchema,
          response: { 200: alertPageSchema, ...errors },
        },
        config,
      },
      async (request, reply) => {
        const { organisationId } = request.access
        const all = await store.alerts.list(organisationId)
        const page = requestedPage(request.query)
        const offset = pageOffset(page)
        const bodies = await toBodies(all.slice(offset, offset + page.limit), organisationId)
        return reply.type('application/json; charset=utf-8').send(renderPage(bodies, page, all.length))
      },
    )

    app.post(
      '/alerts',
      {
        schema: {
          operationId: 'addAlert',
          summary: 'Add an alert',
          description:
            'Its channel is then told about regressions of the matching prompts, and about what else `events` lists. The ' +
            'response of a webhook contains the signing secret, which is shown only once.',
          tags,
          body: newAlertSchema,
          response: {
            201: addedAlertSchema,
            ...errors,
            409: errorSchema('conflict', tooManyAlerts().message),
            422: errorSchema('validation_error', 'name is required'),
          },
        },
        config,
      },
      async (request, reply) => {
        const body = request.body as NewAlertBody
        const { organisationId } = request.access
        const { channel, target } = body
        const added = await alerts.add({ organisationId, channel, target, ...requestedRules(body) }, request.access)
        return reply.status(201).send({ data: toAddedAlertBody(added) })
      },
    )

    app.get(
      '/alerts/:alert_id',
      {
        schema: {
          operationId: 'getAlert',
          summary: 'Get an alert',
          tags,
          params,
          response: { 200: oneAlertSchema, ...errorsWithNotFound },
        },
        config,
      },
      async (request) => toBody(await alertOf(store, request)),
    )

    app.patch(
      '/alerts/:alert_id',
      {
        schema: {
          operationId: 'updateAlert',
          summary: 'Change an alert',
          description:
            'Everything but the channel can be changed. With `state`, an alert is disabled, or enabled again after its ' +
            'receiver responded with 410.',
          tags,
          params,
          body: alertUpdateSchema,
          response: {
            200: oneAlertSchema,
            ...errorsWithNotFound,
            422: errorSchema('validation_error', 'hold_minutes must be >= 0'),
          },
        },
        config,
        // Before the body is read: 404 comes before 422, as for prompts.
        onRequest: async (request) => {
          await alertOf(store, request)
        },
      },
      async (request) => {
        const update = requestedUpdate(request.body as AlertUpdateBody)
        return toBody(await alerts.update(await alertOf(store, request), update, request.access))
      },
    )

    app.delete(
      '/alerts/:alert_id',
      {
        schema: {
          operationId: 'removeAlert',
          summary: 'Remove an alert',
          description: 'What is waiting to be sent to it is cancelled.',
          tags,
          params,
          response: {
            204: { type: 'null', description: 'The alert is removed' },
            ...errorsWithNotFound,
            422: unexpectedBodySchema,
          },
        },
        config,
      },
      async (request, reply) => {
        await alerts.remove(await alertOf(store, request), request.access)
        return reply.status(204).send()
      },
    )

    app.post(
      '/alerts/:alert_id/test',
      {
        schema: {
          operationId: 'testAlert',
          summary: 'Send a test message',
          description:
            'Sends at once, also to a disabled alert, and responds with what the receiver answered. An organisation may send ' +
            '10 a minute, and 2 at the same time.',
          tags,
          params,
          response: {
            200: testedAlertSchema,
            ...errorsWithNotFound,
            422: unexpectedBodySchema,
            429: { ...testLimitSchema, examples: [testLimitExample] },
          },
        },
        config,
      },
      async (request) => {
        const alert = await alertOf(store, request)
        return { data: toTestedAlertBody(await alerts.test(alert, request.access)) }
      },
    )

    app.post(
      '/alerts/:alert_id/rotate-secret',
      {
        schema: {
          operationId: 'rotateAlertSecret',
          summary: 'Rotate the signing secret',
          description:
            'For webhooks. During the overlap, 24 hours by default, requests carry the signatures of both secrets, so that ' +
            'the receiver can change at any time.',
          tags,
          params,
          body: overlapSchema('secret'),
          response: {
            200: rotatedAlertSecretSchema,
            ...errorsWithNotFound,
            409: errorSchema('conflict', 'Only webhooks have a signing secret.'),
            422: errorSchema('validation_error', 'overlap_hours must be >= 0'),
          },
        },
        config,
        // Before the body is read: 404 comes before 422, as for prompts.
        onRequest: async (request) => {
          await alertOf(store, request)
        },
      },
      async (request) => {
        const { overlap_hours: overlapHours = defaultOverlapHours } = (request.body ?? {}) as OverlapBody
        const alert = await alertOf(store, request)
        const rotated = await alerts.rotateSecret(alert, overlapHours * hour, request.access)
        return { data: toRotatedAlertSecretBody(rotated) }
      },
    )

    await alertDeliveryRoutes(context)(app)
  }
}
