import type { FastifyInstance } from 'fastify'
import { operations } from '../../../../contract/usage.ts'
import { usageOf } from '../../domain/signals/usage.ts'
import type { Context } from '../context.ts'
import { route } from '../route.ts'
import { toUsageBody } from './body.ts'

export function usageRoutes({ store, clock, planLimits }: Context) {
  return async (app: FastifyInstance) => {
    route(app, operations.getUsage, async (request) =>
      toUsageBody(await usageOf(store.organisations, request.access, planLimits, clock())),
    )
  }
}
