import type { FastifyInstance } from 'fastify'
import { impactOf } from '../../domain/impact/impact.ts'
import type { Context } from '../context.ts'
import { errorBodySchema } from '../error-schema.ts'
import { toHistoryEntryBody } from '../history/body.ts'
import { askedPage, renderPage } from '../page-body.ts'
import { pageQuerySchema } from '../page-schema.ts'
import { promptParamsSchema } from '../prompts/id-schema.ts'
import { toEffectBody } from './body.ts'
import { impactSchema } from './schema.ts'

const schema = {
  operationId: 'listImpact',
  summary: 'Get the effect of each change',
  description:
    'For each change that went live, newest first: what users thought before and after, and whether that is a difference.',
  tags: ['Impact'],
  params: promptParamsSchema,
  querystring: pageQuerySchema,
  response: {
    200: impactSchema,
    401: errorBodySchema,
    403: errorBodySchema,
    404: errorBodySchema,
    500: errorBodySchema,
  },
}

/** What each change did to what users think. */
export function impactRoutes({ store, clock }: Context) {
  return async (app: FastifyInstance) => {
    app.get(
      '/prompts/:prompt_id/impact',
      { schema, config: { roles: ['standard', 'admin'] } },
      async (request, reply) => {
        const asked = askedPage(request.query)
        const { impacts, totalCount } = await impactOf(store, request.prompt, asked, clock())
        const data = impacts.map((impact) => ({ entry: toHistoryEntryBody(impact.entry), ...toEffectBody(impact) }))
        return reply.type('application/json; charset=utf-8').send(renderPage(data, asked, totalCount))
      },
    )
  }
}
