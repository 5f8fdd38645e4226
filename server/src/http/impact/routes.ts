import type { FastifyInstance } from 'fastify'
import type { Context } from '../context.ts'
import { exportTimelineRoute } from './export.ts'
import { listImpactRoute } from './list.ts'
import { timelineRoute } from './timeline.ts'
import { timelineEntryRoute } from './timeline-entry.ts'

/** How each change affected user feedback. */
export function impactRoutes(context: Context) {
  return async (app: FastifyInstance) => {
    await listImpactRoute(context)(app)
    await timelineRoute(context)(app)
    await timelineEntryRoute(context)(app)
    await exportTimelineRoute(context)(app)
  }
}
