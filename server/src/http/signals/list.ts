import type { FastifyInstance } from 'fastify'
import { readerRoles } from '../../domain/access/api-key.ts'
import { pageOfCounted, searchedSpans } from '../../domain/signals/counted-signals.ts'
import { parseCursor, searchSignals } from '../../domain/signals/search.ts'
import type { Context } from '../context.ts'
import { errorBodySchema, invalidTimeSchema } from '../error-schema.ts'
import { requestedPage } from '../page-body.ts'
import { lastValue, type Query } from '../parameters.ts'
import { promptParamsSchema } from '../prompts/id-schema.ts'
import { renderSearch, renderSignalPage } from './body.ts'
import { readSignalFilter } from './filter.ts'
import { signalQuerySchema } from './filter-schema.ts'
import { signalPageSchema } from './schema.ts'

const schema = {
  operationId: 'listSignals',
  summary: 'List signals',
  description:
    'Newest first by `occurred_at`, then `id`, with metadata exactly as sent. `metadata.<key>=<value>` selects signals whose ' +
    'metadata has this member: up to 16, and numbers, booleans and null match as well as text. Filters on `comment`, `q` and ' +
    'metadata search the signals: one request examines up to 10,000 of them, `search` says how far it got, and `cursor` ' +
    'continues. `total_count` is then null unless one request examined all. `change` and `side` select exactly the signals that ' +
    'the impact of a change counts: those that name its version, and those without a version of the times in which it was live ' +
    'with the largest share. With `value` alone, the list has its totals; any other filter beside them searches.',
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

export function listSignalsRoute({ store, clock }: Context) {
  return async (app: FastifyInstance) => {
    app.get(
      '/prompts/:prompt_id/signals',
      { schema, config: { roles: readerRoles, shared: 'with signals' } },
      async (request, reply) => {
        const pageRequest = requestedPage(request.query)
        const query = request.query as Query
        const { filter, counted, isSearch } = await readSignalFilter(store, request.prompt, query, clock())
        const { content } = filter
        reply.type('application/json; charset=utf-8')
        if (isSearch && content !== null) {
          const text = lastValue(query.cursor)
          const cursor = text === undefined ? null : parseCursor(text)
          const search = await searchSignals(
            store.signals,
            request.prompt,
            { ...filter, content },
            pageRequest.limit,
            cursor,
            counted && searchedSpans(counted, filter),
          )
          return reply.send(renderSearch(search, pageRequest.limit, cursor === null, counted))
        }
        const { signals, totalCount } =
          counted === null
            ? await store.signals.page(request.prompt, filter, pageRequest)
            : await pageOfCounted(store.signals, request.prompt, counted, filter.value, pageRequest)
        return reply.send(renderSignalPage(signals, pageRequest, totalCount, counted))
      },
    )
  }
}
