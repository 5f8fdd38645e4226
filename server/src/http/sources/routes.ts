import type { FastifyInstance, FastifyRequest } from 'fastify'
import {
  type NewSourceBody,
  operations,
  type ReceivedEventsBody,
  type SourceUpdateBody,
} from '../../../../contract/sources.ts'
import type { Plan } from '../../domain/access/plan.ts'
import { DomainError } from '../../domain/errors.ts'
import { addSource, updateSource } from '../../domain/sources/manage-source.ts'
import type { Source, SourceCounts } from '../../domain/sources/source.ts'
import type { Context } from '../context.ts'
import { notFound } from '../errors.ts'
import { lazy } from '../lazy.ts'
import { cutPage, requestedPage, sendPage } from '../page-body.ts'
import { publicIdParameter } from '../parameters.ts'
import { beforeBody, route } from '../route.ts'
import { requestedSettings, requestedUpdate, toAddedSourceBody, toSourceBody } from './body.ts'
import { createCountedEvents } from './counts.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The source in the path, where its events are received. */
    source: Source & { plan: Plan }
  }
}

/** Products that send feedback. */
export function sourceRoutes(app: FastifyInstance, { store, vault, clock, publicUrl }: Context): void {
  const context = { sources: store.sources, vault, clock }

  /** One of another organisation is a 404, like an unknown ID. */
  async function sourceOf({ params, access }: FastifyRequest): Promise<Source> {
    const source = await store.sources.find(access.organisationId, publicIdParameter(params, 'source_id', 'src'))
    if (source === null) throw notFound()
    return source
  }

  route(app, operations.listSources, async ({ access, query }, reply) => {
    const all = await store.sources.list(access.organisationId)
    const page = requestedPage(query)
    const bodies = cutPage(all, page).map((source) => toSourceBody(source, publicUrl()))
    return sendPage(reply, bodies, page, all.length)
  })

  route(app, operations.addSource, async (request, reply) => {
    const body = request.body as NewSourceBody
    const { name, adapter, secret = null } = body
    const { organisationId } = request.access
    const requested = { organisationId, name, adapter, secret, settings: requestedSettings(body) }
    const added = await addSource(context, requested, request.access)
    return reply
      .status(201)
      .header('Cache-Control', 'no-store')
      .send({ data: toAddedSourceBody(added, publicUrl()) })
  })

  route(app, operations.getSource, async (request) => ({
    data: toSourceBody(await sourceOf(request), publicUrl()),
  }))

  route(
    app,
    operations.updateSource,
    async (request) => {
      const update = requestedUpdate(request.body as SourceUpdateBody)
      const updated = await updateSource(context, await sourceOf(request), update, request.access)
      return { data: toSourceBody(updated, publicUrl()) }
    },
    beforeBody(sourceOf),
  )

  route(app, operations.removeSource, async (request, reply) => {
    await store.sources.remove(await sourceOf(request), clock(), request.access)
    return reply.status(204).send()
  })
}

const eventBodyLimit = 1024 * 1024

/** Receives events. Outside `api.ts`, because the secret of the source authenticates them instead of a key. */
export function sourceEventRoutes(
  app: FastifyInstance,
  { store, vault, voters, planLimits, clock, log }: Context,
): void {
  const context = { store, vault, voters, planLimits, clock }
  // Most services have no source.
  const loadReceiver = lazy(() => import('../../adapters/receive.ts'))

  /** Runs before the body is read: only a known URL can make us receive 1 MiB. */
  async function findSource(request: FastifyRequest): Promise<void> {
    const id = publicIdParameter(request.params, 'source_id', 'src')
    const source = await store.sources.findInAnyOrganisation(id)
    if (source === null) throw notFound()
    request.source = source
  }

  const counted = createCountedEvents(store.sources, log)
  app.addHook('onClose', () => counted.flush())
  app.decorateRequest('source')
  // Keep the raw bytes, whatever the content type: the signature covers them.
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: FastifyRequest, bytes: Buffer) => bytes)

  route(
    app,
    operations.receiveEvents,
    async (request, reply) => {
      const { source, headers } = request
      const sent = { headers, body: (request.body as Buffer | undefined) ?? Buffer.alloc(0) }
      const receiver = await loadReceiver()
      const problem = receiver.problemWith(context, source, sent)
      if (problem !== null) {
        counted.add(source, rejectionOf(problem, clock()))
        throw new DomainError('unauthorized', `The request is not authentic: ${problem}.`)
      }
      await store.refresh()
      const turn = app.loadShedder.admit(request, reply, receiver.accessOf(source))
      if (turn !== undefined) await turn
      try {
        const payload = receiver.parsePayload(sent)
        const challenge = receiver.challengeIn(source, payload)
        if (challenge !== null) return challenge
        const data: ReceivedEventsBody = await receiver.receiveEvents(context, source, payload)
        counted.add(source, countsOf(data, clock()))
        return { data }
      } catch (error) {
        if (error instanceof DomainError) counted.add(source, rejectionOf(error.message, clock()))
        throw error
      }
    },
    { onRequest: findSource, bodyLimit: eventBodyLimit },
  )
}

function countsOf({ received, recorded, rejected, errors }: ReceivedEventsBody, now: number): SourceCounts {
  return {
    received,
    recorded,
    rejected,
    lastReceivedAt: now,
    lastRecordedAt: recorded > 0 ? now : null,
    lastRejectedAt: rejected > 0 ? now : null,
    lastRejection: errors.at(-1)?.message ?? null,
  }
}

function rejectionOf(reason: string, now: number): SourceCounts {
  const none = { received: 0, recorded: 0, lastReceivedAt: now, lastRecordedAt: null }
  return { ...none, rejected: 1, lastRejectedAt: now, lastRejection: reason }
}
