import type { FastifyInstance } from 'fastify'
import { readerRoles } from '../../domain/access/api-key.ts'
import { parseCursor, searchSignals } from '../../domain/signals/search.ts'
import type { Context } from '../context.ts'
import { errorBodySchema, invalidTimeSchema } from '../error-schema.ts'
import { renderPageJson, requestedPage } from '../page-body.ts'
import { lastValue, type Query } from '../parameters.ts'
import { promptParamsSchema } from '../prompts/id-schema.ts'
import { renderSearch, renderStoredSignal } from './body.ts'
import { readSignalFilter } from './filter.ts'
import { signalPageSchema, signalQuerySchema } from './schema.ts'

const schema = {
  operationId: 'listSignals',
  summary: 'List signals',
  description:
    'Newest first by `occurred_at`, then `id`, with metadata exactly as sent. `metadata.<key>=<value>` selects signals whose ' +
    'metadata has this member: up to 16, and numbers, booleans and null match as well as text. Filters on `comment`, `q` and ' +
    'metadata search the signals: one request examines up to 10,000 of them, `search` says how far it got, and `cursor` ' +
    'continues. `total_count` is then null unless one request examined all.',
  tags: ['Signals'],
  params: promptParamsSchema,
  querystring: signalQuerySchema,
  response: {
    200: signalPageSchema,
    401: errorBodySchema,
    403: errorBodySchema,
    404: errorBodySchema,
    422: invalidTimeSchema('since'),
    500: errorBodySchema,
  },
}

export function listSignalsRoute({ store }: Context) {
  return async (app: FastifyInstance) => {
    app.get('/prompts/:prompt_id/signals', { schema, config: { roles: readerRoles } }, async (request, reply) => {
      const pageRequest = requestedPage(request.query)
      const filter = await readSignalFilter(store, request.prompt, request.query as Query)
      const { content = null } = filter
      if (content !== null) {
        const text = lastValue((request.query as Query).cursor)
        const cursor = text === undefined ? null : parseCursor(text)
        const search = await searchSignals(
          store.signals,
          request.prompt,
          { ...filter, content },
          pageRequest.limit,
          cursor,
        )
        return reply
          .type('application/json; charset=utf-8')
          .send(renderSearch(search, pageRequest.limit, cursor === null))
      }
      const { signals, totalCount } = await store.signals.page(request.prompt, filter, pageRequest)
      const data = `[${signals.map(renderStoredSignal).join(',')}]`
      return reply.type('application/json; charset=utf-8').send(renderPageJson(data, pageRequest, totalCount))
    })
  }
}
