import type { FastifyInstance } from 'fastify'
import { operations, type UsageBody } from '../../../../contract/usage.ts'
import { type Usage, usageOf } from '../../domain/signals/usage.ts'
import { isoTime } from '../../domain/time.ts'
import type { Context } from '../context.ts'
import { route } from '../route.ts'

export function usageRoutes(app: FastifyInstance, { store, clock, planLimits }: Context): void {
  route(app, operations.getUsage, async (request) =>
    toUsageBody(await usageOf(store.organisations, request.access, planLimits, clock())),
  )
}

function toUsageBody({ resetsAt, months, ...usage }: Usage): { data: UsageBody } {
  const data = {
    ...usage,
    resets_at: isoTime(resetsAt),
    months: months.map(({ month, used }) => ({ month: isoTime(month).slice(0, 'yyyy-mm'.length), used })),
  }
  return { data }
}
