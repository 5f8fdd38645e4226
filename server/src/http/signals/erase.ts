import type { FastifyInstance, FastifyRequest } from 'fastify'
import { invalid } from '../../domain/errors.ts'
import { validLabel } from '../../domain/signals/details.ts'
import { countErasure, type ErasureQuery, eraseSignals, metadataQuery } from '../../domain/signals/erasure.ts'
import type { Context } from '../context.ts'
import { errorBodySchema, errorSchema } from '../error-schema.ts'
import { allowSilence } from '../silent-request.ts'
import { type ErasureBody, erasedSchema, erasurePreviewSchema, erasureSchema } from './erasure-schema.ts'
import { parseMetadata } from './validation.ts'

const oneSelection = 'The body must have exactly one of metadata, voter and subject'

const schema = {
  operationId: 'eraseSignals',
  summary: 'Erase signals by metadata, voter or subject',
  description:
    'Removes every signal of the organisation whose metadata has all of these members with equal values, or of this voter, or on ' +
    'this subject, including signals of deleted prompts, from lists and statistics. They still count towards the monthly ' +
    'limit. Recording continues during an erasure. By metadata, it takes a few seconds per million stored signals; if it is ' +
    'interrupted, send it again.',
  tags: ['Signals'],
  body: erasureSchema,
  response: {
    200: erasedSchema,
    401: errorBodySchema,
    403: errorBodySchema,
    422: errorSchema('validation_error', oneSelection),
    500: errorBodySchema,
  },
}

// A path of its own: a process of an earlier version would ignore a parameter, and erase.
const previewSchema = {
  ...schema,
  operationId: 'previewErasure',
  summary: 'Count the signals that an erasure would remove',
  description:
    'Takes the same body, and removes nothing. By metadata, it takes a few seconds per million stored signals.',
  response: { ...schema.response, 200: erasurePreviewSchema },
}

/** Erases one user's feedback, for example to honour a deletion request. */
export function eraseSignalsRoute({ store, voters, clock }: Context) {
  async function queryOf({ body, bodyText, access }: FastifyRequest): Promise<ErasureQuery> {
    const { metadata, voter, subject } = body as ErasureBody
    const given = [metadata, voter, subject].filter((selection) => selection !== undefined)
    if (given.length !== 1) throw invalid(oneSelection)
    if (voter !== undefined) return { voter: await voters.hash(access.organisationId, validLabel('voter', voter)) }
    if (subject !== undefined) return { subject: validLabel('subject', subject) }
    return metadataQuery(parseMetadata(bodyText))
  }

  return async (app: FastifyInstance) => {
    app.post('/signals/erase', { schema, config: { roles: ['admin'], changesSignals: true } }, async (request) => {
      allowSilence(request)
      const query = await queryOf(request)
      return { data: { erased: await eraseSignals(store.signals, request.access, query, clock()) } }
    })

    app.post(
      '/signals/erase/preview',
      { schema: previewSchema, config: { roles: ['admin'], changesSignals: true } },
      async (request, reply) => {
        allowSilence(request)
        const query = await queryOf(request)
        const isWanted = () => !reply.raw.destroyed
        return { data: { matching: await countErasure(store.signals, request.access, query, clock(), isWanted) } }
      },
    )
  }
}
