import type { FastifyInstance } from 'fastify'
import { readerRoles } from '../../domain/access/api-key.ts'
import { impactOf } from '../../domain/impact/impact.ts'
import type { Context } from '../context.ts'
import { errorBodySchema, invalidTimeSchema } from '../error-schema.ts'
import { toHistoryEntryBody } from '../history/body.ts'
import { renderPage, requestedPage } from '../page-body.ts'
import { pageQuerySchema } from '../page-schema.ts'
import type { Query } from '../parameters.ts'
import { promptParamsSchema } from '../prompts/id-schema.ts'
import { asOfSchema, requestedMoment } from './as-of.ts'
import { toEffectBody, toUnknownVersionsBody } from './body.ts'
import { impactSchema } from './schema.ts'

const schema = {
  operationId: 'listImpact',
  summary: 'Get the impact of each change',
  description:
    'For each change that went live, newest first: the signals before and after, the difference between them, and a ' +
    'verdict on whether the change explains the difference.',
  tags: ['Impact'],
  params: promptParamsSchema,
  querystring: { ...pageQuerySchema, properties: { as_of: asOfSchema, ...pageQuerySchema.properties } },
  response: {
    200: impactSchema,
    401: errorBodySchema,
    403: errorBodySchema,
    404: errorBodySchema,
    422: invalidTimeSchema('as_of'),
    500: errorBodySchema,
  },
}

export function listImpactRoute({ store, clock }: Context) {
  return async (app: FastifyInstance) => {
    app.get('/prompts/:prompt_id/impact', { schema, config: { roles: readerRoles } }, async (request, reply) => {
      const pageRequest = requestedPage(request.query)
      const { impacts, totalCount, unknownVersions } = await impactOf(
        store,
        request.prompt,
        pageRequest,
        requestedMoment(request.query as Query, clock()),
      )
      const data = impacts.map((impact) => ({ entry: toHistoryEntryBody(impact.entry), ...toEffectBody(impact) }))
      return reply
        .type('application/json; charset=utf-8')
        .send(renderPage(data, pageRequest, totalCount, { unknown_versions: toUnknownVersionsBody(unknownVersions) }))
    })
  }
}
