import type { FromSchema } from 'json-schema-to-ts'
import { readerRoles } from '../server/src/domain/access/api-key.ts'
import { plans } from '../server/src/domain/access/plan.ts'
import { defineOperations } from './operation.ts'
import { object, one } from './schema.ts'

const month = object({
  month: { type: 'string', description: 'Month, UTC, such as 2026-11' },
  used: { type: 'integer' },
})

const usage = object({
  plan: { enum: plans },
  limit: { type: ['integer', 'null'], description: "The plan's monthly signal limit; null if it has none" },
  used: { type: 'integer', description: 'Signals recorded in the current month' },
  remaining: {
    type: ['integer', 'null'],
    description: 'Signals left in the current month; null if the plan has no limit',
  },
  resets_at: { type: 'string', format: 'date-time', description: 'When the counter resets' },
  months: { type: 'array', items: month, description: 'The last twelve months, newest first' },
})

const usageExample = {
  plan: 'free',
  limit: 1000,
  used: 412,
  remaining: 588,
  resets_at: '2026-12-01T00:00:00.000Z',
  months: [
    { month: '2026-11', used: 412 },
    { month: '2026-10', used: 377 },
  ],
}

export const usageSchema = one(usage, 'The usage of the organisation', usageExample)

export type UsageBody = FromSchema<typeof usage>

export const operations = defineOperations('Usage', {
  getUsage: {
    method: 'GET',
    path: '/api/v1/usage',
    client: 'usage.get',
    summary: 'Get usage',
    description: "Signals recorded this month against the plan's limit, and in previous months.",
    roles: readerRoles,
    response: { 200: usageSchema },
  },
})
