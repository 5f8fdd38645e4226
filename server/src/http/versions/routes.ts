import type { FastifyInstance } from 'fastify'
import type { Context } from '../context.ts'
import { listVersionsRoute } from './list.ts'

/** The changes of a prompt that went live. */
export function versionRoutes(context: Context) {
  return async (app: FastifyInstance) => {
    await listVersionsRoute(context)(app)
  }
}
