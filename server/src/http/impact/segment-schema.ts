import type { FromSchema } from 'json-schema-to-ts'
import { effectParts } from './effect-parts.ts'

const segmentSchema = {
  title: 'SegmentImpact',
  description: 'User feedback of one segment before and after a change',
  type: 'object',
  required: [
    'value',
    'other',
    'before',
    'after',
    'effective_signals',
    'difference',
    'interval',
    'verdict',
    'explanation',
  ],
  properties: {
    value: { type: ['string', 'null'], description: 'Null for signals without a value, and for `other`' },
    other: { type: 'boolean', description: 'Whether it pools all values beyond the first 20' },
    ...effectParts,
    verdict: {
      ...effectParts.verdict,
      description: 'Of all segments that are called `better` or `worse`, at most 5% are wrong on average',
    },
  },
  additionalProperties: false,
} as const

export const segmentsSchema = {
  title: 'Segments',
  description: 'A change by the values of one key of the metadata',
  type: 'object',
  required: ['key', 'complete', 'mix', 'values'],
  properties: {
    key: { type: 'string' },
    complete: {
      type: 'boolean',
      description:
        'Whether all signals are in it. Otherwise it has the last 20,000 before the change and the first 20,000 after it, or ' +
        'those that are not removed yet',
    },
    mix: {
      type: ['object', 'null'],
      description: 'The difference between both rates in two parts; null if a side has no signals',
      required: ['audience', 'within'],
      properties: {
        audience: { type: 'number', description: 'The part that comes from a different share of each segment' },
        within: { type: 'number', description: 'The part that comes from different rates within segments' },
      },
      additionalProperties: false,
    },
    values: { type: 'array', items: segmentSchema },
  },
  additionalProperties: false,
} as const

export type SegmentsBody = FromSchema<typeof segmentsSchema>
