import { historyEntrySchema } from './history.ts'

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
      required: [...historyEntrySchema.required, 'message', 'actor', 'path', 'before', 'after', 'patch'],
      properties: { ...historyEntrySchema.properties, ...details },
    },
  },
  additionalProperties: false,
} as const

export const recordedEntrySchema = {
  type: 'object',
  required: ['data'],
  properties: { data: historyEntrySchema },
  additionalProperties: false,
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
} as const

export const entryParamsSchema = {
  type: 'object',
  required: ['prompt_id', 'entry_id'],
  properties: { prompt_id: { type: 'string' }, entry_id: { type: 'integer', description: 'The id of the entry' } },
} as const

export const liveQuerySchema = {
  type: 'object',
  properties: { at: { type: 'string', format: 'date-time', description: 'When; now, where it is not given' } },
} as const
