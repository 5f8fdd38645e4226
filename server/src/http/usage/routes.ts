import type { FastifyInstance } from 'fastify'
import { type Usage, usageOf } from '../../domain/signals/usage.ts'
import { isoTime } from '../../domain/time.ts'
import type { Context } from '../context.ts'
import { errorBodySchema } from '../error-schema.ts'
import { type UsageBody, usageSchema } from './schema.ts'

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
