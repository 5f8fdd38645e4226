import type { FastifyInstance } from 'fastify'
import { type Impact, impactOf } from '../../domain/impact.ts'
import { isoTime } from '../../domain/time.ts'
import type { Context } from '../app.ts'
import { toHistoryEntryBody } from '../history-body.ts'
import { askedPage, renderPage } from '../page-body.ts'
import { errorBodySchema } from '../schemas/error.ts'
import { pageQuerySchema } from '../schemas/pagination.ts'
import { promptParamsSchema } from '../schemas/prompt.ts'
import { impactSchema } from '../schemas/signal.ts'

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
        return reply
          .type('application/json; charset=utf-8')
          .send(renderPage(impacts.map(toImpactBody), asked, totalCount))
      },
    )
  }
}

function toImpactBody({ entry, liveFrom, liveUntil, ...figures }: Impact) {
  const { before, after, difference, interval, verdict } = figures
  return {
    entry: toHistoryEntryBody(entry),
    live_from: isoTime(liveFrom),
    live_until: liveUntil === null ? null : isoTime(liveUntil),
    before,
    after,
    difference: difference === null ? null : rounded(difference),
    interval: interval === null ? null : interval.map(rounded),
    verdict,
  }
}

/** Beyond six decimals there is nothing but the noise of the computation. */
function rounded(rate: number): number {
  return Math.round(rate * 1e6) / 1e6
}
