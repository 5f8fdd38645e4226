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
    interval: {
      enum: [...intervals, 'auto'],
      default: 'day',
      description:
        'UTC. Weeks start on Monday. `auto` is the shortest one that leaves at most 200 intervals since the first signal, and 30 ' +
        'signals in the average interval, or 10 in the average day if the range is shorter than 8 weeks. With it, the last ' +
        'interval is the current one, also if `to` is later',
    },
    split: {
      enum: ['changes'],
      description:
        'Splits intervals at the hours in which changes went live, and says which version was live in each part',
    },
    by: {
      type: 'string',
      description:
        'Adds the counts of the five largest segments by a declared key of the metadata, such as `metadata.model`, from up to the newest ' +
        '20,000 signals',
    },
  },
} as const

const live = {
  end: { type: 'string', format: 'date-time', description: 'Only with `split`, like the next three. Exclusive' },
  changes: { type: 'integer', description: 'How many changes went live' },
  versions: {
    type: 'integer',
    description:
      'How many versions took turns. More than one in the hour of a change, and if there are too many changes to split at',
  },
  entry_id: {
    type: ['integer', 'null'],
    description: 'The history entry of the version that was live; null unless there was exactly one',
  },
} as const

export const summarySchema = {
  type: 'object',
  required: ['data', 'interval', 'total'],
  properties: {
    data: {
      type: 'array',
      description:
        'Every interval that overlaps the requested range, in order. The first and last are counted in full, but with `split` cut ' +
        'to the hours of `from` and `to`',
      items: { ...intervalTally, properties: { ...intervalTally.properties, ...live } },
    },
    interval: { enum: intervals },
    split: {
      type: 'boolean',
      description: 'Only with `split`. False if the range has more than about 250 changes: intervals are whole then',
    },
    segments: {
      title: 'SegmentSummaries',
      description: 'Only with `by`',
      type: 'object',
      required: ['key', 'data', 'others', 'counted_from'],
      properties: {
        key: { type: 'string' },
        data: {
          type: 'array',
          description: 'The largest first',
          items: {
            title: 'SegmentSummary',
            type: 'object',
            required: ['value', 'total', 'data'],
            properties: {
              value: { type: ['string', 'null'], description: 'Null for signals without the member. Untrusted text' },
              total: {
                type: 'object',
                required: ['positive', 'negative'],
                properties: tally,
                additionalProperties: false,
              },
              data: { type: 'array', items: intervalTally, description: 'In order, without empty intervals' },
            },
            additionalProperties: false,
          },
        },
        others: { type: 'integer', description: 'How many further segments there are' },
        counted_from: {
          type: ['string', 'null'],
          format: 'date-time',
          description: 'Earlier signals are not counted, because there are too many; null if all are',
        },
      },
      additionalProperties: false,
    },
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
