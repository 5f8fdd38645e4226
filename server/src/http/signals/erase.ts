import type { FastifyInstance } from 'fastify'
import { eraseSignals, metadataQuery } from '../../domain/signals/erasure.ts'
import { memberText } from '../../domain/signals/json-text.ts'
import { checkMetadata } from '../../domain/signals/signal.ts'
import type { Context } from '../context.ts'
import { errorBodySchema, errorSchema } from '../error-schema.ts'
import { erasedSchema, erasureSchema } from './schema.ts'

const schema = {
  operationId: 'eraseSignals',
  summary: 'Erase signals by their metadata',
  description:
    'Removes every signal of the organisation, those of deleted prompts too, whose metadata has each of these members with an ' +
    "equal value, from lists and from figures; the months' counts stay. Recording goes on meanwhile. It takes a few " +
    'seconds for each million signals that there are; where it was interrupted, send it again.',
  tags: ['Signals'],
  body: erasureSchema,
  response: {
    200: erasedSchema,
    401: errorBodySchema,
    403: errorBodySchema,
    422: errorSchema('validation_error', 'metadata must be given'),
    500: errorBodySchema,
  },
}

/** Forgetting what somebody thought, on their request. */
export function erasureRoutes({ store, clock }: Context) {
  return async (app: FastifyInstance) => {
    app.post('/signals/erase', { schema, config: { roles: ['admin'] } }, async ({ access, bodyText }) => {
      // As it was sent: integers past 2^53 are other people's ids once they are rounded.
      const sought = metadataQuery(checkMetadata(memberText(bodyText, 'metadata') as string))
      return { data: { erased: await eraseSignals(store.signals, access, sought, clock()) } }
    })
  }
}
