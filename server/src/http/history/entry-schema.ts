import { promptId } from '../prompts/schema.ts'
import { historyEntryExample, historyEntrySchema } from './schema.ts'

const textOrNull = { type: ['string', 'null'] } as const

const details = {
  message: { ...textOrNull, description: "The commit's message, or the title of the pull request" },
  actor: { ...textOrNull, description: 'Who pushed, opened, merged or closed it, by the name that the forge knows' },
  path: { ...textOrNull, description: "Where the prompt's file was" },
  before: { ...textOrNull, description: "The prompt's text before; null where there was none or git no longer has it" },
  after: { ...textOrNull, description: "The prompt's text after; null where it is gone or git no longer has it" },
  patch: { ...textOrNull, description: 'The unified diff between the two' },
} as const

export const entryDetailsSchema = {
  type: 'object',
  required: ['data'],
  properties: {
    data: {
      ...historyEntrySchema,
      title: 'HistoryEntryDetails',
      required: [...historyEntrySchema.required, 'message', 'actor', 'path', 'before', 'after', 'patch'],
      properties: { ...historyEntrySchema.properties, ...details },
    },
  },
  additionalProperties: false,
  description: 'The entry',
  examples: [
    {
      data: {
        ...historyEntryExample,
        message: 'Answer in the language of the question (#42)',
        actor: 'ada',
        path: 'prompts/support.md',
        before: 'You answer customers.\n',
        after: 'You answer customers in their language.\n',
        patch: '@@ -1 +1 @@\n-You answer customers.\n+You answer customers in their language.\n',
      },
    },
  ],
} as const

export const recordedEntrySchema = {
  type: 'object',
  required: ['data'],
  properties: { data: historyEntrySchema },
  additionalProperties: false,
  description: 'The entry, now recorded',
  examples: [{ data: historyEntryExample }],
} as const

export const liveSchema = {
  type: 'object',
  required: ['data'],
  properties: {
    data: {
      type: 'object',
      required: ['entry', 'path', 'content'],
      properties: {
        entry: historyEntrySchema,
        path: details.path,
        content: { ...textOrNull, description: "The prompt's text at that time" },
      },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
  description: 'The change that was live',
  examples: [
    {
      data: {
        entry: historyEntryExample,
        path: 'prompts/support.md',
        content: 'You answer customers in their language.\n',
      },
    },
  ],
} as const

export const entryParamsSchema = {
  type: 'object',
  required: ['prompt_id', 'entry_id'],
  properties: {
    prompt_id: promptId,
    entry_id: { type: 'integer', description: 'The id of the entry', examples: [historyEntryExample.id] },
  },
} as const

export const liveQuerySchema = {
  type: 'object',
  properties: {
    at: {
      type: 'string',
      format: 'date-time',
      description: 'When; now, where it is not given',
      examples: ['2026-11-15T09:30:00.000Z'],
    },
  },
} as const
