import { intervals } from '../../domain/signals/interval.ts'
import { intervalTally, tally } from './tally-schema.ts'

export const summaryQuerySchema = {
  type: 'object',
  properties: {
    from: {
      type: 'string',
      format: 'date-time',
      description: 'Defaults to 30 days before `to`',
      examples: ['2026-11-14T00:00:00.000Z'],
    },
    to: {
      type: 'string',
      format: 'date-time',
      description: 'Defaults to now',
      examples: ['2026-11-15T00:00:00.000Z'],
    },
    interval: { enum: intervals, default: 'day', description: 'UTC. Weeks start on Monday' },
  },
} as const

export const summarySchema = {
  type: 'object',
  required: ['data', 'interval', 'total'],
  properties: {
    data: {
      type: 'array',
      description: 'Every interval that overlaps the requested range, in order. The first and last are counted in full',
      items: intervalTally,
    },
    interval: { enum: intervals },
    total: { type: 'object', required: ['positive', 'negative'], properties: tally, additionalProperties: false },
  },
  additionalProperties: false,
  description: 'The counts',
  examples: [
    {
      data: [{ start: '2026-11-14T00:00:00.000Z', positive: 31, negative: 4 }],
      interval: 'day',
      total: { positive: 31, negative: 4 },
    },
  ],
} as const
