import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type ErasureBody, oneSelection, operations } from '../../../../contract/signals.ts'
import { invalid } from '../../domain/errors.ts'
import { pageOfCounted, searchedSpans } from '../../domain/signals/counted-signals.ts'
import { validLabel } from '../../domain/signals/details.ts'
import { countErasure, type ErasureQuery, eraseSignals, metadataQuery } from '../../domain/signals/erasure.ts'
import { parseCursor, searchSignals } from '../../domain/signals/search.ts'
import { allowSilence } from '../admission/connection.ts'
import type { Context } from '../context.ts'
import { notFound } from '../errors.ts'
import { requestedPage } from '../page-body.ts'
import { idParameter, lastValue, type Query } from '../parameters.ts'
import { route } from '../route.ts'
import { createSignalsRoute } from './batch.ts'
import { renderSearch, renderSignalPage } from './body.ts'
import { createSignalRoute } from './create.ts'
import { exportSignalsRoute } from './export.ts'
import { readSignalFilter } from './filter.ts'
import { signalSummaryRoute } from './summary.ts'
import { parseMetadata } from './validation.ts'

/** User feedback on the output of a prompt. */
export function signalRoutes(app: FastifyInstance, context: Context): void {
  createSignalRoute(app, context)
  createSignalsRoute(app, context)
  listSignalsRoute(app, context)
  exportSignalsRoute(app, context)
  signalSummaryRoute(app, context)
  deleteSignalRoute(app, context)
  eraseSignalsRoute(app, context)
}

function deleteSignalRoute(app: FastifyInstance, { store, clock }: Context): void {
  route(app, operations.retractSignal, async ({ prompt, access, params }, reply) => {
    const id = idParameter(params, 'signal_id')
    if (!(await store.signals.delete(prompt, id, clock(), access))) throw notFound()
    return reply.status(204).send()
  })
}

/** Erases one user's feedback, for example to honour a deletion request. */
function eraseSignalsRoute(app: FastifyInstance, { store, voters, clock }: Context): void {
  async function queryOf({ body, bodyText, access }: FastifyRequest): Promise<ErasureQuery> {
    const { metadata, voter, subject } = body as ErasureBody
    const given = [metadata, voter, subject].filter((selection) => selection !== undefined)
    if (given.length !== 1) throw invalid(oneSelection)
    if (voter !== undefined) return { voter: await voters.hash(access.organisationId, validLabel('voter', voter)) }
    if (subject !== undefined) return { subject: validLabel('subject', subject) }
    return metadataQuery(parseMetadata(bodyText))
  }

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

function listSignalsRoute(app: FastifyInstance, { store, clock }: Context): void {
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
