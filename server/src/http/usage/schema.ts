import type { FromSchema } from 'json-schema-to-ts'
import { plans } from '../../domain/access/plan.ts'

const month = {
  type: 'object',
  required: ['month', 'used'],
  properties: { month: { type: 'string', description: 'Month, UTC, such as 2026-11' }, used: { type: 'integer' } },
  additionalProperties: false,
} as const

export const usageSchema = {
  type: 'object',
  required: ['data'],
  properties: {
    data: {
      type: 'object',
      required: ['plan', 'limit', 'used', 'remaining', 'resets_at', 'months'],
      properties: {
        plan: { enum: plans },
        limit: { type: ['integer', 'null'], description: "The plan's monthly signal limit; null if it has none" },
        used: { type: 'integer', description: 'Signals recorded in the current month' },
        remaining: {
          type: ['integer', 'null'],
          description: 'Signals left in the current month; null if the plan has no limit',
        },
        resets_at: { type: 'string', format: 'date-time', description: 'When the counter resets' },
        months: { type: 'array', items: month, description: 'The last twelve months, newest first' },
      },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
  description: 'The usage of the organisation',
  examples: [
    {
      data: {
        plan: 'free',
        limit: 1000,
        used: 412,
        remaining: 588,
        resets_at: '2026-12-01T00:00:00.000Z',
        months: [
          { month: '2026-11', used: 412 },
          { month: '2026-10', used: 377 },
        ],
      },
    },
  ],
} as const

export type UsageBody = FromSchema<typeof usageSchema>
