import type { FastifyInstance } from 'fastify'
import { readerRoles } from '../../domain/access/api-key.ts'
import { usageOf } from '../../domain/signals/usage.ts'
import type { Context } from '../context.ts'
import { errorBodySchema } from '../error-schema.ts'
import { toUsageBody } from './body.ts'
import { usageSchema } from './schema.ts'

const schema = {
  operationId: 'getUsage',
  summary: 'Get usage',
  description: "Signals recorded this month against the plan's limit, and in previous months.",
  tags: ['Usage'],
  response: { 200: usageSchema, 401: errorBodySchema, 403: errorBodySchema, 500: errorBodySchema },
}

export function usageRoutes({ store, clock, planLimits }: Context) {
  return async (app: FastifyInstance) => {
    app.get('/usage', { schema, config: { roles: readerRoles } }, async (request) =>
      toUsageBody(await usageOf(store.organisations, request.access, planLimits, clock())),
    )
  }
}
