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
    await createSignalRoute(context)(app)
    await createSignalsRoute(context)(app)
    await listSignalsRoute(context)(app)
    await exportSignalsRoute(context)(app)
    await signalSummaryRoute(context)(app)
    await deleteSignalRoute(context)(app)
    await eraseSignalsRoute(context)(app)
  }
}
