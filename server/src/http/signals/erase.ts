import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type ErasureBody, oneSelection, operations } from '../../../../contract/signals.ts'
import { invalid } from '../../domain/errors.ts'
import { validLabel } from '../../domain/signals/details.ts'
import { countErasure, type ErasureQuery, eraseSignals, metadataQuery } from '../../domain/signals/erasure.ts'
import type { Context } from '../context.ts'
import { route } from '../route.ts'

import { allowSilence } from '../silent-request.ts'

import { parseMetadata } from './validation.ts'

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
    route(app, operations.eraseSignals, async (request) => {
      allowSilence(request)
      const query = await queryOf(request)
      return { data: { erased: await eraseSignals(store.signals, request.access, query, clock()) } }
    })

    route(app, operations.previewErasure, async (request, reply) => {
      allowSilence(request)
      const query = await queryOf(request)
      const isWanted = () => !reply.raw.destroyed
      return { data: { matching: await countErasure(store.signals, request.access, query, clock(), isWanted) } }
    })
  }
}
