import type { FastifyInstance } from 'fastify'
import { readerRoles } from '../../domain/access/api-key.ts'
import type { Context } from '../context.ts'
import { errorBodySchema, invalidTimeSchema } from '../error-schema.ts'
import { renderPageJson, requestedPage } from '../page-body.ts'
import type { Query } from '../parameters.ts'
import { promptParamsSchema } from '../prompts/id-schema.ts'
import { renderStoredSignal } from './body.ts'
import { parseSignalFilter } from './filter.ts'
import { signalPageSchema, signalQuerySchema } from './schema.ts'

const schema = {
  operationId: 'listSignals',
  summary: 'List signals',
  description: 'Newest first, with metadata exactly as sent.',
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
      const filter = parseSignalFilter(request.query as Query)
      const { signals, totalCount } = await store.signals.page(request.prompt, filter, pageRequest)
      const data = `[${signals.map(renderStoredSignal).join(',')}]`
      return reply.type('application/json; charset=utf-8').send(renderPageJson(data, pageRequest, totalCount))
    })
  }
}
