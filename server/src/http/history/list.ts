import type { FastifyInstance } from 'fastify'
import { readerRoles } from '../../domain/access/api-key.ts'
import type { HistoryPage } from '../../domain/history/history.ts'
import type { Prompt } from '../../domain/prompt.ts'
import type { Store } from '../../domain/store.ts'
import { type Answer, json, send } from '../answer.ts'
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

export const listHistoryConfig = { roles: readerRoles, light: true } as const

// The store returns the same page object until the history changes, so each page is rendered once.
const rendered = new WeakMap<HistoryPage, Answer>()

export function listHistoryRoute({ store }: Context) {
  return async (app: FastifyInstance) => {
    app.get('/prompts/:prompt_id/history', { schema, config: listHistoryConfig }, async (request, reply) =>
      send(reply, await historyAnswer(store, request.prompt, request.query)),
    )
  }
}

export async function historyAnswer({ history }: Store, prompt: Prompt, query: unknown): Promise<Answer> {
  const request = requestedPage(query)
  const page = await history.page(prompt, request)
  let answer = rendered.get(page)
  if (answer === undefined) {
    const body = Buffer.from(renderPage(page.entries.map(toHistoryEntryBody), request, page.totalCount))
    answer = { status: 200, headers: json, body }
    rendered.set(page, answer)
  }
  return answer
}
