import type { FastifyInstance } from 'fastify'
import type { Context } from '../context.ts'
import { createSignalsRoute } from './batch.ts'
import { createSignalRoute } from './create.ts'
import { deleteSignalRoute } from './delete.ts'
import { eraseSignalsRoute } from './erase.ts'
import { exportSignalsRoute } from './export.ts'
import { listSignalsRoute } from './list.ts'
import { signalSummaryRoute } from './summary.ts'

/** User feedback on the output of a prompt. */
export function signalRoutes(context: Context) {
  return async (app: FastifyInstance) => {
    await app.register(createSignalRoute(context))
    await app.register(createSignalsRoute(context))
    await app.register(listSignalsRoute(context))
    await app.register(exportSignalsRoute(context))
    await app.register(signalSummaryRoute(context))
    await app.register(deleteSignalRoute(context))
    await app.register(eraseSignalsRoute(context))
  }
}
