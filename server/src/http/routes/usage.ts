import type { FastifyInstance } from 'fastify'
import { isoTime } from '../../domain/time.ts'
import { type Usage, usageOf } from '../../domain/usage.ts'
import type { Context } from '../app.ts'
import { errorBodySchema } from '../schemas/error.ts'
import { type UsageBody, usageSchema } from '../schemas/usage.ts'

const schema = {
  operationId: 'getUsage',
  summary: 'Get the usage',
  description: "How much of the month's limit is used, and what was used in the months before.",
  tags: ['Usage'],
  response: { 200: usageSchema, 401: errorBodySchema, 403: errorBodySchema, 500: errorBodySchema },
}

export function usageRoutes({ store, clock }: Context) {
  return async (app: FastifyInstance) => {
    app.get('/usage', { schema, config: { roles: ['standard', 'admin'] } }, async (request) =>
      toBody(await usageOf(store.organisations, request.access, clock())),
    )
  }
}

function toBody({ resetsAt, months, ...usage }: Usage): UsageBody {
  const data = {
    ...usage,
    resets_at: isoTime(resetsAt),
    months: months.map(({ month, used }) => ({ month: isoTime(month).slice(0, 'yyyy-mm'.length), used })),
  }
  return { data }
}
