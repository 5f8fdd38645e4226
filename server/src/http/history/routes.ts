import type { FastifyInstance } from 'fastify'
import type { Context } from '../context.ts'
import { createContentsReader } from './contents.ts'
import { historyEntryRoutes } from './entries.ts'
import { listHistoryRoute } from './list.ts'
import { livePromptRoute } from './live.ts'

/** The changes of a prompt. */
export function historyRoutes(context: Context) {
  const reader = createContentsReader(context.repositories)
  return async (app: FastifyInstance) => {
    await app.register(listHistoryRoute(context))
    await app.register(historyEntryRoutes(context, reader))
    await app.register(livePromptRoute(context, reader))
  }
}
