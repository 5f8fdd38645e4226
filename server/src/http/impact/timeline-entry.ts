import type { FastifyInstance } from 'fastify'
import { operations } from '../../../../contract/impact.ts'
import { timelineEntryOf } from '../../domain/impact/timeline.ts'
import type { Context } from '../context.ts'
import { notFound, notShared } from '../errors.ts'
import { idParameter, type Query } from '../parameters.ts'
import { route } from '../route.ts'
import { requestedMoment } from './as-of.ts'
import { toTimelineEntryBody } from './body.ts'

import { toSegmentsBody } from './segment-body.ts'
import { checkDeclared, segmentParameter } from './segment-parameter.ts'

export function timelineEntryRoute({ store, learned, clock }: Context) {
  return async (app: FastifyInstance) => {
    route(app, operations.getTimelineEntry, async (request) => {
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
    })
  }
}
