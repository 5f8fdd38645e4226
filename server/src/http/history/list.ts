import type { FastifyInstance } from 'fastify'
import { readerRoles } from '../../domain/access/api-key.ts'
import type { HistoryPage } from '../../domain/history/history.ts'
import type { Context } from '../context.ts'
import { errorBodySchema } from '../error-schema.ts'
import { renderPage, requestedPage } from '../page-body.ts'
import { pageQuerySchema } from '../page-schema.ts'
import { promptParamsSchema } from '../prompts/id-schema.ts'
import { toHistoryEntryBody } from './body.ts'
import { historyPageSchema } from './schema.ts'

const schema = {
  operationId: 'listHistory',
  summary: 'Get prompt history',
  description:
    'The recorded changes of a prompt, newest first by `created_at`, then `id`. A page past the end is empty and has ' +
    'the correct totals.',
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

export function listHistoryRoute({ store }: Context) {
  // The store returns the same page object until the history changes, so each page is rendered once.
  const rendered = new WeakMap<HistoryPage, Buffer>()

  return async (app: FastifyInstance) => {
    app.get(
      '/prompts/:prompt_id/history',
      { schema, config: { roles: readerRoles, light: true } },
      async (request, reply) => {
        const pageRequest = requestedPage(request.query)
        const page = await store.history.page(request.prompt, pageRequest)
        let body = rendered.get(page)
        if (body === undefined) {
          body = Buffer.from(renderPage(page.entries.map(toHistoryEntryBody), pageRequest, page.totalCount))
          rendered.set(page, body)
        }
        return reply.type('application/json; charset=utf-8').send(body)
      },
    )
  }
}
