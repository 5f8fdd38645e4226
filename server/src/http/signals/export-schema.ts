import { exportFormats } from '../export-stream.ts'
import { signalFilterSchema } from './filter-schema.ts'
import { storedSignalExample } from './schema.ts'

export const csvColumns = [
  'id',
  'value',
  'created_at',
  'metadata',
  'version',
  'subject',
  'voter',
  'comment',
  'occurred_at',
  'trace_id',
]

/** The export formats, each with one signal as an example. */
export const exportSchemas = {
  'application/x-ndjson': {
    type: 'string',
    description: 'One signal per line, in the same format as in the list',
    examples: [`${JSON.stringify(storedSignalExample)}\n`],
  },
  'text/csv': {
    type: 'string',
    description: 'One signal per line, with metadata as JSON text',
    examples: [
      `${csvColumns.join()}\r\n31337,positive,2026-11-15T12:00:00.000Z,,8f3a1c5,answer-42,,Exactly what I needed,2026-11-15T11:58:30.000Z,\r\n`,
    ],
  },
} as const

export const exportQuerySchema = {
  type: 'object',
  properties: {
    format: { enum: exportFormats, default: 'ndjson', description: 'One JSON object per line, or CSV' },
    ...signalFilterSchema.properties,
  },
} as const
