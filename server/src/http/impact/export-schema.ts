import { exportFormats } from '../export-stream.ts'
import { timelineQuerySchema, timelineSchema } from './schema.ts'

export const timelineColumns = [
  'entry_id',
  'created_at',
  'action',
  'author',
  'author_email',
  'actor',
  'message',
  'path',
  'commit_sha',
  'branch_name',
  'pr_number',
  'pr_url',
  'live_from',
  'live_until',
  'live_source',
  'before_positive',
  'before_negative',
  'before_rate',
  'after_positive',
  'after_negative',
  'after_rate',
  'difference',
  'interval_low',
  'interval_high',
  'effective_signals',
  'verdict',
  'explanation',
] as const

const { page: _page, limit: _limit, ...filters } = timelineQuerySchema.properties

export const timelineExportQuerySchema = {
  type: 'object',
  properties: {
    format: { enum: exportFormats, default: 'ndjson', description: 'One JSON object per line, or CSV' },
    ...filters,
  },
} as const

const [example] = timelineSchema.examples[0].data

/** The export formats, each with one change as an example. */
export const timelineExportSchemas = {
  'application/x-ndjson': {
    type: 'string',
    description: 'One change per line, in the same format as in the timeline',
    examples: [`${JSON.stringify(example)}\n`],
  },
  'text/csv': {
    type: 'string',
    description: 'One change per line. The columns of the impact are empty if it did not go live',
    examples: [
      `${timelineColumns.join()}\r\n8842,2026-11-14T16:05:00.000Z,pr_merged,Ada Lovelace,ada@example.com,ada,Answer in the language ` +
        'of the question (#42),prompts/support.md,a1b2c3d4e5f60718293a4b5c6d7e8f9012345678,main,42,' +
        'https://github.com/acme/prompts/pull/42,2026-11-14T16:05:00.000Z,,merge,850,150,0.85,750,250,0.75,-0.1,-0.1378,' +
        '-0.0619,1706,worse,75% of 1000 votes are positive after this change\r\n',
    ],
  },
} as const
