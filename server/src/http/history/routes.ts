import type { FastifyInstance } from 'fastify'
import type { Context } from '../context.ts'
import { blameRoute } from './blame.ts'
import { historyEntryRoutes } from './entries.ts'
import { findEntryRoute } from './find.ts'
import { listHistoryRoute } from './list.ts'
import { livePromptRoute } from './live.ts'

/** The changes of a prompt. */
export function historyRoutes(context: Context) {
  return async (app: FastifyInstance) => {
    const { contents: reader } = app
    await listHistoryRoute(context)(app)
    await findEntryRoute(context)(app)
    await historyEntryRoutes(context, reader)(app)
    await livePromptRoute(context, reader)(app)
    await blameRoute(context, reader)(app)
  }
}
