import type { FastifyInstance } from 'fastify'
import type { Context } from '../context.ts'
import { exportTimelineRoute } from './export.ts'
import { listImpactRoute } from './list.ts'
import { timelineRoute } from './timeline.ts'
import { timelineEntryRoute } from './timeline-entry.ts'

/** How each change affected user feedback. */
export function impactRoutes(context: Context) {
  return async (app: FastifyInstance) => {
    await app.register(listImpactRoute(context))
    await app.register(timelineRoute(context))
    await app.register(timelineEntryRoute(context))
    await app.register(exportTimelineRoute(context))
  }
}
