import type { FastifyInstance } from 'fastify'
import type { HistoryPage } from '../../domain/history/history.ts'
import type { Context } from '../context.ts'
import { errorBodySchema } from '../error-schema.ts'
import { askedPage, renderPage } from '../page-body.ts'
import { pageQuerySchema } from '../page-schema.ts'
import { promptParamsSchema } from '../prompts/id-schema.ts'
import { toHistoryEntryBody } from './body.ts'
import { historyPageSchema } from './schema.ts'

const schema = {
  operationId: 'listHistory',
  summary: 'Get prompt history',
  description:
    'The recorded changes of a prompt, newest first: by `created_at`, then `id`. A page past the end has no ' +
    'entries and the right totals.',
  tags: ['History'],
  params: promptParamsSchema,
  querystring: pageQuerySchema,
  response: {
    200: historyPageSchema,
    401: errorBodySchema,
    403: errorBodySchema,
    404: errorBodySchema,
    500: errorBodySchema,
  },
}

export function historyRoutes({ store }: Context) {
  // The store gives the same page object until the history changes, and its text lives as long as that.
  const rendered = new WeakMap<HistoryPage, Buffer>()

  return async (app: FastifyInstance) => {
    app.get(
      '/prompts/:prompt_id/history',
      { schema, config: { roles: ['standard', 'admin'] } },
      async (request, reply) => {
        const asked = askedPage(request.query)
        const found = await store.history.page(request.prompt, asked)
        let body = rendered.get(found)
        if (body === undefined) {
          body = Buffer.from(renderPage(found.entries.map(toHistoryEntryBody), asked, found.totalCount))
          rendered.set(found, body)
        }
        return reply.type('application/json; charset=utf-8').send(body)
      },
    )
  }
}
