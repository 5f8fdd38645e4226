import type { FromSchema } from 'json-schema-to-ts'
import { intervals } from '../../domain/signals/interval.ts'
import { signalValues } from '../../domain/signals/signal.ts'
import { pageQuerySchema, paginationExample, paginationSchema } from '../page-schema.ts'
import { promptId } from '../prompts/id-schema.ts'
import { intervalTally, tally } from './tally-schema.ts'

export const exportFormats = ['ndjson', 'csv'] as const

const value = { enum: signalValues } as const
const metadata = {
  type: ['object', 'null'],
  description: "Arbitrary JSON object for the caller's own tracking, up to 16 KiB and 64 levels deep",
} as const
const created_at = { type: 'string', format: 'date-time', description: 'ISO 8601 UTC timestamp' } as const

export const newSignalSchema = {
  title: 'NewSignal',
  type: 'object',
  required: ['value'],
  properties: { value, metadata },
  examples: [{ value: 'positive', metadata: { session: 'b7d1', model: 'small-3' } }],
} as const

export const signalHeadersSchema = {
  type: 'object',
  properties: {
    'Idempotency-Key': {
      type: 'string',
      minLength: 1,
      maxLength: 255,
      description:
        'Visible ASCII characters. The same key with the same prompt and body gives the first answer again; ' +
        'nothing is stored or counted',
      examples: ['b7d1-0001'],
    },
  },
} as const

export const importedSignalSchema = {
  type: 'object',
  required: ['value', 'created_at'],
  properties: { value, metadata, created_at },
} as const

export const signalSchema = {
  type: 'object',
  required: ['data'],
  properties: {
    data: {
      type: 'object',
      required: ['id', 'value', 'created_at'],
      properties: { id: { type: 'integer' }, value, created_at },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
  description: 'The signal is on disk',
  examples: [{ data: { id: 31337, value: 'positive', created_at: '2026-11-15T12:00:00.000Z' } }],
} as const

const storedSignalExample = {
  id: 31337,
  value: 'positive',
  metadata: { session: 'b7d1', model: 'small-3' },
  created_at: '2026-11-15T12:00:00.000Z',
} as const

/** One signal in each of the formats in which they are exported. */
export const exportSchemas = {
  'application/x-ndjson': {
    type: 'string',
    description: 'One signal a line, as in the list',
    examples: [`${JSON.stringify(storedSignalExample)}\n`],
  },
  'text/csv': {
    type: 'string',
    description: 'One signal a line, metadata as JSON text',
    examples: ['id,value,created_at,metadata\r\n31337,positive,2026-11-15T12:00:00.000Z,\r\n'],
  },
} as const

const storedSignalSchema = {
  title: 'Signal',
  type: 'object',
  required: ['id', 'value', 'metadata', 'created_at'],
  properties: { id: { type: 'integer' }, value, metadata, created_at },
  additionalProperties: false,
} as const

export const signalPageSchema = {
  type: 'object',
  required: ['data', 'pagination'],
  properties: { data: { type: 'array', items: storedSignalSchema }, pagination: paginationSchema },
  additionalProperties: false,
  description: 'The signals of the page, newest first',
  examples: [{ data: [storedSignalExample], pagination: paginationExample(1) }],
} as const

const since = {
  type: 'string',
  format: 'date-time',
  description: 'From this time on',
  examples: ['2026-11-01T00:00:00.000Z'],
} as const
const until = {
  type: 'string',
  format: 'date-time',
  description: 'Before this time',
  examples: ['2026-12-01T00:00:00.000Z'],
} as const

export const signalFilterSchema = {
  type: 'object',
  properties: { value: { ...value, description: 'Only these' }, since, until },
} as const

export const signalQuerySchema = {
  type: 'object',
  properties: { ...signalFilterSchema.properties, ...pageQuerySchema.properties },
} as const

export const exportQuerySchema = {
  type: 'object',
  properties: {
    format: { enum: exportFormats, default: 'ndjson', description: 'One JSON object a line, or CSV' },
    ...signalFilterSchema.properties,
  },
} as const

export const signalParamsSchema = {
  type: 'object',
  required: ['prompt_id', 'signal_id'],
  properties: {
    prompt_id: promptId,
    signal_id: { type: 'integer', description: 'The id of the signal', examples: [storedSignalExample.id] },
  },
} as const

export const summaryQuerySchema = {
  type: 'object',
  properties: {
    from: {
      type: 'string',
      format: 'date-time',
      description: '30 days before `to`, where it is not given',
      examples: ['2026-11-14T00:00:00.000Z'],
    },
    to: {
      type: 'string',
      format: 'date-time',
      description: 'Now, where it is not given',
      examples: ['2026-11-15T00:00:00.000Z'],
    },
    interval: { enum: intervals, default: 'day', description: 'UTC; weeks begin on Monday' },
  },
} as const

export const summarySchema = {
  type: 'object',
  required: ['data', 'interval', 'total'],
  properties: {
    data: {
      type: 'array',
      description: 'Every interval that the span touches, whole, in order',
      items: intervalTally,
    },
    interval: { enum: intervals },
    total: { type: 'object', required: ['positive', 'negative'], properties: tally, additionalProperties: false },
  },
  additionalProperties: false,
  description: 'The sums',
  examples: [
    {
      data: [{ start: '2026-11-14T00:00:00.000Z', positive: 31, negative: 4 }],
      interval: 'day',
      total: { positive: 31, negative: 4 },
    },
  ],
} as const

export const erasureSchema = {
  title: 'Erasure',
  type: 'object',
  required: ['metadata'],
  properties: {
    metadata: { type: 'object', description: 'What the metadata of signals must have: one member or several' },
  },
  examples: [{ metadata: { user: 'u-123' } }],
} as const

export const erasedSchema = {
  type: 'object',
  required: ['data'],
  properties: {
    data: {
      type: 'object',
      required: ['erased'],
      properties: { erased: { type: 'integer', description: 'How many signals' } },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
  description: 'They are gone',
  examples: [{ data: { erased: 42 } }],
} as const

export type NewSignalBody = FromSchema<typeof newSignalSchema>
