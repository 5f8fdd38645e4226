import type { FastifyInstance } from 'fastify'
import type { HistoryPage } from '../../domain/history.ts'
import { type PageRequest, pageRequest, pagination } from '../../domain/page.ts'
import type { Context } from '../app.ts'
import { toHistoryEntryBody } from '../history-body.ts'
import { errorBodySchema } from '../schemas/error.ts'
import { historyPageSchema } from '../schemas/history.ts'
import { pageQuerySchema } from '../schemas/pagination.ts'
import { promptParamsSchema } from '../schemas/prompt.ts'

const schema = {
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
        const { page, limit } = request.query as Record<string, string | string[] | undefined>
        const asked = pageRequest(last(page), last(limit))
        const found = await store.history.page(request.prompt, asked)
        let body = rendered.get(found)
        if (body === undefined) {
          body = Buffer.from(renderPage(found, asked))
          rendered.set(found, body)
        }
        return reply.type('application/json; charset=utf-8').send(body)
      },
    )
  }
}

function last(values: string | string[] | undefined): string | undefined {
  return Array.isArray(values) ? values.at(-1) : values
}

function renderPage({ entries, totalCount }: HistoryPage, asked: PageRequest): string {
  const { currentPage, totalPages, perPage } = pagination(asked, totalCount)
  // Written by hand because a page number may have more digits than a number can hold.
  return (
    `{"data":${JSON.stringify(entries.map(toHistoryEntryBody))},"pagination":{"current_page":${currentPage},` +
    `"total_pages":${totalPages},"total_count":${totalCount},"per_page":${perPage}}}`
  )
}
