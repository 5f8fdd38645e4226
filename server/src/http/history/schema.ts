import type { FromSchema } from 'json-schema-to-ts'
import { actions } from '../../domain/history/entry.ts'
import { textStates } from '../../domain/repositories/repository-service.ts'
import { paginationExample, paginationSchema } from '../page-schema.ts'
import { promptId, promptIdExample } from '../prompts/id-schema.ts'
import { hiddenCharactersSchema } from './hidden-characters.ts'

const fields = {
  action: {
    enum: actions,
    description: '`deployed`: committed directly to the default branch. `pr_closed`: closed without a merge',
  },
  user: {
    type: 'object',
    description: 'The author of the change',
    required: ['name', 'email'],
    properties: { name: { type: 'string' }, email: { type: 'string' } },
  },
  commit_sha: { type: 'string', description: 'Commit hash of the change' },
  pr_number: { type: ['integer', 'null'], description: 'Null when no pull request is involved' },
  pr_url: { type: ['string', 'null'], description: 'Null when no pull request is involved' },
  branch_name: { type: 'string', description: 'Name of the branch the change went to' },
  created_at: { type: 'string', format: 'date-time', description: 'ISO 8601 UTC timestamp' },
} as const

const fieldNames = [
  'action',
  'user',
  'commit_sha',
  'pr_number',
  'pr_url',
  'branch_name',
  'created_at',
] as const satisfies (keyof typeof fields)[]

const mergedExample = {
  action: 'pr_merged',
  user: { name: 'Ada Lovelace', email: 'ada@example.com' },
  commit_sha: '8f3a1c5e7b9d2f4a6c8e0b1d3f5a7c9e1b3d5f7a',
  pr_number: 42,
  pr_url: 'https://github.com/acme/prompts/pull/42',
  branch_name: 'main',
  created_at: '2026-11-14T16:05:00.000Z',
} as const

export const historyEntryExample = { id: 1042, ...mergedExample } as const

export const newHistoryEntrySchema = {
  title: 'NewHistoryEntry',
  description: 'A change of a prompt that another system made',
  type: 'object',
  required: fieldNames,
  properties: fields,
  examples: [mergedExample],
} as const

export const historyEntrySchema = {
  title: 'HistoryEntry',
  description: 'A recorded change of a prompt',
  type: 'object',
  required: ['id', ...fieldNames],
  properties: { id: { type: 'integer', description: 'Identifier of the history entry' }, ...fields },
  additionalProperties: false,
} as const

export const historyPageSchema = {
  type: 'object',
  required: ['data', 'pagination'],
  properties: { data: { type: 'array', items: historyEntrySchema }, pagination: paginationSchema },
  additionalProperties: false,
  description: 'One page of entries, newest first',
  examples: [
    {
      data: [
        historyEntryExample,
        {
          id: 977,
          action: 'deployed',
          user: { name: 'Grace Hopper', email: 'grace@example.com' },
          commit_sha: '1b3d5f7a9c1e3b5d7f9a1c3e5b7d9f1a3c5e7b9d',
          pr_number: null,
          pr_url: null,
          branch_name: 'main',
          created_at: '2026-11-02T09:30:00.000Z',
        },
      ],
      pagination: paginationExample(2),
    },
  ],
} as const

export const textOrNull = { type: ['string', 'null'] } as const

export const textStateSchema = {
  enum: textStates,
  description:
    '`absent`: the file did not exist. `too_large`: the texts exceed 16 MiB together. `unavailable`: git does not have it, or ' +
    'the entry does not come from git',
} as const

const details = {
  message: { ...textOrNull, description: 'The commit message, or the title of the pull request' },
  actor: { ...textOrNull, description: 'The forge user who pushed, opened, merged or closed it' },
  path: { ...textOrNull, description: "Path of the prompt's file at that time" },
  too_large: {
    type: 'boolean',
    description:
      'Whether the commit or pull request exceeds the limits of a sync: some of its files are not recorded, or its ' +
      'message is cut',
  },
  before: {
    ...textOrNull,
    description: "The prompt's text before the change; `before_state` says why it is null",
  },
  after: {
    ...textOrNull,
    description: "The prompt's text after the change; `after_state` says why it is null",
  },
  before_state: textStateSchema,
  after_state: textStateSchema,
  patch: { ...textOrNull, description: 'Unified diff between the two; null if a text is unavailable, or over 4 MiB' },
  key_id: {
    type: ['integer', 'null'],
    description: 'The key that recorded the entry through the API; null for entries from git, the CLI or an import',
  },
  hidden_characters: hiddenCharactersSchema,
} as const

export const entryDetailsSchema = {
  type: 'object',
  required: ['data'],
  properties: {
    data: {
      ...historyEntrySchema,
      title: 'HistoryEntryDetails',
      description: 'A recorded change of a prompt, with its details and texts. Details are null if they are not known',
      required: [
        ...historyEntrySchema.required,
        'message',
        'actor',
        'path',
        'too_large',
        'before',
        'after',
        'before_state',
        'after_state',
        'patch',
        'hidden_characters',
        'key_id',
      ],
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
        too_large: false,
        before: 'You answer customers.\n',
        after: 'You answer customers in their language.\n',
        before_state: 'available',
        after_state: 'available',
        patch: '@@ -1 +1 @@\n-You answer customers.\n+You answer customers in their language.\n',
        key_id: null,
        hidden_characters: { present: false, added: false, count: 0, added_count: 0, kinds: [], positions: [] },
      },
    },
  ],
} as const

export const recordedEntrySchema = {
  type: 'object',
  required: ['data'],
  properties: { data: historyEntrySchema },
  additionalProperties: false,
  description: 'The recorded entry',
  examples: [{ data: historyEntryExample }],
} as const

export const entryParamsSchema = {
  type: 'object',
  required: ['prompt_id', 'entry_id'],
  properties: {
    prompt_id: promptId,
    entry_id: { type: 'integer', description: 'The ID of the entry', examples: [historyEntryExample.id] },
  },
} as const

export const foundEntryParamsSchema = {
  type: 'object',
  required: ['entry_id'],
  properties: { entry_id: entryParamsSchema.properties.entry_id },
} as const

export const foundEntrySchema = {
  type: 'object',
  required: ['data'],
  properties: {
    data: {
      title: 'FoundEntry',
      description: 'A history entry, and its prompt',
      type: 'object',
      required: ['prompt', 'entry'],
      properties: {
        prompt: {
          type: 'object',
          required: ['id', 'name'],
          properties: { id: { type: 'string' }, name: { type: 'string' } },
          additionalProperties: false,
        },
        entry: historyEntrySchema,
      },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
  description: 'The entry',
  examples: [{ data: { prompt: { id: promptIdExample, name: 'Support answers' }, entry: historyEntryExample } }],
} as const

export type HistoryEntryBody = FromSchema<typeof historyEntrySchema>
export type NewHistoryEntryBody = FromSchema<typeof newHistoryEntrySchema>
