import type { FastifyInstance } from 'fastify'
import { operations } from '../../../../contract/impact.ts'
import { impactOf } from '../../domain/impact/impact.ts'
import type { PageRequest } from '../../domain/page.ts'
import { withTrials } from '../../domain/trials/change-trials.ts'
import type { Context } from '../context.ts'
import { toHistoryEntryBody } from '../history/body.ts'
import { requestedPage, sendPage } from '../page-body.ts'
import type { Query } from '../parameters.ts'
import { route } from '../route.ts'
import { toEffectBody, toSegmentsBody, toUnknownVersionsBody } from './body.ts'
import { exportTimelineRoute } from './export.ts'
import { checkDeclared, requestedMoment, segmentParameter } from './parameters.ts'
import { timelineRoutes } from './timeline.ts'

/** How each change affected user feedback. */
export function impactRoutes(app: FastifyInstance, context: Context): void {
  listImpactRoute(app, context)
  timelineRoutes(app, context)
  exportTimelineRoute(app, context)
}

function listImpactRoute(app: FastifyInstance, { store, learned, clock }: Context): void {
  route(app, operations.listImpact, async (request, reply) => {
    const query = request.query as Query
    const by = segmentParameter(query)
    const pageRequest = segmentedPage(requestedPage(query), by)
    const moment = requestedMoment(query, clock())
    if (by !== null) checkDeclared(by, await store.segments.ofPrompt(request.prompt))
    const { impacts, totalCount, unknownVersions } = await impactOf(
      store,
      request.prompt,
      pageRequest,
      moment,
      await learned.of(request.prompt),
      by,
    )
    const tried = moment.isPast ? impacts : await withTrials(store, request.access, request.prompt, impacts)
    const data = tried.map((impact) => ({
      entry: toHistoryEntryBody(impact.entry),
      ...toEffectBody(impact),
      ...(by !== null && { segments: impact.segments && toSegmentsBody(impact.segments) }),
    }))
    return sendPage(reply, data, pageRequest, totalCount, { unknown_versions: toUnknownVersionsBody(unknownVersions) })
  })
}

// The single votes of each change have to be read, up to 40,000.
const maxSegmentedChanges = 10

function segmentedPage(request: PageRequest, by: string | null): PageRequest {
  return by === null ? request : { ...request, limit: Math.min(request.limit, maxSegmentedChanges) }
}
