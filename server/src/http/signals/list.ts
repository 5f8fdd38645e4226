import type { FastifyInstance } from 'fastify'
import { operations } from '../../../../contract/signals.ts'
import { pageOfCounted, searchedSpans } from '../../domain/signals/counted-signals.ts'
import { parseCursor, searchSignals } from '../../domain/signals/search.ts'
import type { Context } from '../context.ts'
import { requestedPage } from '../page-body.ts'
import { lastValue, type Query } from '../parameters.ts'
import { route } from '../route.ts'

import { renderSearch, renderSignalPage } from './body.ts'
import { readSignalFilter } from './filter.ts'

export function listSignalsRoute({ store, clock }: Context) {
  return async (app: FastifyInstance) => {
    route(app, operations.listSignals, async (request, reply) => {
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
    })
  }
}
