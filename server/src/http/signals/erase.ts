import type { FastifyInstance } from 'fastify'
import { eraseSignals, metadataQuery } from '../../domain/signals/erasure.ts'
import type { Context } from '../context.ts'
import { errorBodySchema, errorSchema } from '../error-schema.ts'
import { allowSilence } from '../silent-request.ts'
import { erasedSchema, erasureSchema } from './schema.ts'
import { parseMetadata } from './validation.ts'

const schema = {
  operationId: 'eraseSignals',
  summary: 'Erase signals by metadata',
  description:
    'Removes every signal of the organisation whose metadata has all of these members with equal values, including ' +
    'signals of deleted prompts, from lists and statistics. They still count towards the monthly limit. Recording ' +
    'continues during an erasure. It takes a few seconds per million stored signals; if it is interrupted, send it again.',
  tags: ['Signals'],
  body: erasureSchema,
  response: {
    200: erasedSchema,
    401: errorBodySchema,
    403: errorBodySchema,
    422: errorSchema('validation_error', 'metadata is required'),
    500: errorBodySchema,
  },
}

/** Erases one user's feedback, for example to honour a deletion request. */
export function eraseSignalsRoute({ store, clock }: Context) {
  return async (app: FastifyInstance) => {
    app.post('/signals/erase', { schema, config: { roles: ['admin'] } }, async (request) => {
      const { access, bodyText } = request
      allowSilence(request)
      const query = metadataQuery(parseMetadata(bodyText))
      return { data: { erased: await eraseSignals(store.signals, access, query, clock()) } }
    })
  }
}
