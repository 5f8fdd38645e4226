import { historyEntryExample, historyEntrySchema } from '../history/schema.ts'
import { liveSourceSchema, liveWindowSchema } from '../impact/schema.ts'
import { pageQuerySchema, paginationExample, paginationSchema } from '../page-schema.ts'

const textOrNull = { type: ['string', 'null'] } as const
const time = { type: 'string', format: 'date-time' } as const

const versionSchema = {
  title: 'PromptVersion',
  description: 'A change of a prompt that went live',
  type: 'object',
  required: ['entry', 'message', 'path', 'live', 'live_from', 'live_until', 'live_source', 'live_windows'],
  properties: {
    entry: historyEntrySchema,
    message: { ...textOrNull, description: 'The commit message, up to its first 1,000 characters' },
    path: { ...textOrNull, description: "Path of the prompt's file at that time" },
    live: {
      type: ['object', 'null'],
      description: 'How it is live in production now; null if it is not',
      required: ['share', 'environment'],
      properties: {
        share: { type: 'number', description: 'The part of the traffic that it serves' },
        environment: { ...textOrNull, description: 'Null for a merge' },
      },
      additionalProperties: false,
    },
    live_from: { ...time, description: 'When it went live for the first time' },
    live_until: { type: ['string', 'null'], format: 'date-time', description: 'Null if it is still live' },
    live_source: liveSourceSchema,
    live_windows: {
      type: 'array',
      items: liveWindowSchema,
      description: 'Every time in which it was live, in order, up to the newest 20',
    },
  },
  additionalProperties: false,
} as const

const since = historyEntryExample.created_at

export const versionPageSchema = {
  type: 'object',
  required: ['data', 'pagination', 'complete'],
  properties: {
    data: { type: 'array', items: versionSchema },
    pagination: paginationSchema,
    complete: {
      type: 'boolean',
      description: 'Whether `q` was looked for in all versions, not only in the newest 5,000',
    },
  },
  additionalProperties: false,
  description: 'One page of versions, newest first',
  examples: [
    {
      data: [
        {
          entry: historyEntryExample,
          message: 'Answer in the language of the question (#42)',
          path: 'prompts/support.md',
          live: { share: 1, environment: null },
          live_from: since,
          live_until: null,
          live_source: 'merge',
          live_windows: [{ from: since, until: null, share: 1, live_source: 'merge', environment: null }],
        },
      ],
      pagination: paginationExample(1),
      complete: true,
    },
  ],
} as const

export const versionQuerySchema = {
  type: 'object',
  properties: {
    q: {
      type: 'string',
      default: '',
      maxLength: 200,
      description:
        'Every word has to match: part of the message (its first 1,000 characters) or of the author, the start of ' +
        'the commit hash, or a pull request such as `#42`. Ignores case',
    },
    ...pageQuerySchema.properties,
  },
} as const
