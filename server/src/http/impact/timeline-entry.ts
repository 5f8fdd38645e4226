import type { FastifyInstance } from 'fastify'
import { readerRoles } from '../../domain/access/api-key.ts'
import { timelineEntryOf } from '../../domain/impact/timeline.ts'
import type { Context } from '../context.ts'
import { errorBodySchema, invalidTimeSchema } from '../error-schema.ts'
import { notFound, notShared } from '../errors.ts'
import { entryParamsSchema } from '../history/schema.ts'
import { idParameter, type Query } from '../parameters.ts'
import { asOfSchema, requestedMoment } from './as-of.ts'
import { toTimelineEntryBody } from './body.ts'
import { timelineEntryResponseSchema } from './schema.ts'
import { toSegmentsBody } from './segment-body.ts'
import { checkDeclared, entryBySchema, segmentParameter } from './segment-parameter.ts'

// After the change of the examples.
const asOf = { ...asOfSchema, examples: ['2026-11-15T00:00:00.000Z'] } as const

const schema = {
  operationId: 'getTimelineEntry',
  summary: 'Get an entry of the timeline',
  description: 'One change of any age, with everything known about it, and its impact if it went live.',
  tags: ['Impact'],
  params: entryParamsSchema,
  querystring: { type: 'object', properties: { as_of: asOf, by: entryBySchema } },
  response: {
    200: timelineEntryResponseSchema,
    401: errorBodySchema,
    403: errorBodySchema,
    404: errorBodySchema,
    422: invalidTimeSchema('as_of'),
    500: errorBodySchema,
  },
}

export function timelineEntryRoute({ store, learned, clock }: Context) {
  return async (app: FastifyInstance) => {
    app.get(
      '/prompts/:prompt_id/timeline/:entry_id',
      { schema, config: { roles: readerRoles, shared: 'always' } },
      async (request) => {
        const { prompt } = request
        const query = request.query as Query
        const entryId = idParameter((request.params as { entry_id: string }).entry_id)
        const moment = requestedMoment(query, clock())
        const by = segmentParameter(query)
        // The values of segments are metadata.
        if (by !== null && request.access.shared?.includesSignals === false) throw notShared()
        if (by !== null) checkDeclared(by, await store.segments.ofPrompt(prompt))
        const found = await timelineEntryOf(store, prompt, entryId, moment, await learned.of(prompt), by)
        if (found === null) throw notFound()
        const { repositoryId } = found.entry
        const repository = repositoryId === null ? null : await store.repositories.find(repositoryId)
        const segments = found.impact?.segments ?? null
        return {
          data: {
            ...toTimelineEntryBody(found, repository, request.access.shared !== undefined),
            ...(by !== null && { segments: segments && toSegmentsBody(segments) }),
          },
        }
      },
    )
  }
}
