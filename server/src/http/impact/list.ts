import type { FastifyInstance } from 'fastify'
import { readerRoles } from '../../domain/access/api-key.ts'
import { impactOf } from '../../domain/impact/impact.ts'
import type { PageRequest } from '../../domain/page.ts'
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
import { toSegmentsBody } from './segment-body.ts'
import { bySchema, checkDeclared, segmentParameter } from './segment-parameter.ts'

const schema = {
  operationId: 'listImpact',
  summary: 'Get the impact of each change',
  description:
    'For each change that went live, newest first: the signals before and after, the difference between them, and a ' +
    'verdict on whether the change explains the difference.',
  tags: ['Impact'],
  params: promptParamsSchema,
  querystring: { ...pageQuerySchema, properties: { as_of: asOfSchema, by: bySchema, ...pageQuerySchema.properties } },
  response: {
    200: impactSchema,
    401: errorBodySchema,
    403: errorBodySchema,
    404: errorBodySchema,
    422: invalidTimeSchema('as_of'),
    500: errorBodySchema,
  },
}

export function listImpactRoute({ store, learned, clock }: Context) {
  return async (app: FastifyInstance) => {
    app.get('/prompts/:prompt_id/impact', { schema, config: { roles: readerRoles } }, async (request, reply) => {
      const query = request.query as Query
      const by = segmentParameter(query)
      const pageRequest = segmentedPage(requestedPage(query), by)
      const moment = requestedMoment(query, clock())
      if (by !== null) checkDeclared(by, await store.segments.ofPrompt(request.prompt))
      const { impacts, totalCount, unknownVersions } = await impactOf(
        store,
        request.prompt,
        pageRequest,
        moment,
        await learned.of(request.prompt),
        by,
      )
      const data = impacts.map((impact) => ({
        entry: toHistoryEntryBody(impact.entry),
        ...toEffectBody(impact),
        ...(by !== null && { segments: impact.segments && toSegmentsBody(impact.segments) }),
      }))
      return reply
        .type('application/json; charset=utf-8')
        .send(renderPage(data, pageRequest, totalCount, { unknown_versions: toUnknownVersionsBody(unknownVersions) }))
    })
  }
}

// The single votes of each change have to be read, up to 40,000.
const maxSegmentedChanges = 10

function segmentedPage(request: PageRequest, by: string | null): PageRequest {
  return by === null ? request : { ...request, limit: Math.min(request.limit, maxSegmentedChanges) }
}
