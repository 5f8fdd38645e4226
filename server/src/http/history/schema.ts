import type { FromSchema } from 'json-schema-to-ts'
import { actions } from '../../domain/history/entry.ts'
import { paginationExample, paginationSchema } from '../page-schema.ts'

const facts = {
  action: { enum: actions },
  user: {
    type: 'object',
    description: 'Who made the change',
    required: ['name', 'email'],
    properties: { name: { type: 'string' }, email: { type: 'string' } },
  },
  commit_sha: { type: 'string', description: 'Commit hash of the change' },
  pr_number: { type: ['integer', 'null'], description: 'Null when no pull request is involved' },
  pr_url: { type: ['string', 'null'], description: 'Null when no pull request is involved' },
  branch_name: { type: 'string', description: 'Name of the branch the change went to' },
  created_at: { type: 'string', format: 'date-time', description: 'ISO 8601 UTC timestamp' },
} as const

const factNames = [
  'action',
  'user',
  'commit_sha',
  'pr_number',
  'pr_url',
  'branch_name',
  'created_at',
] as const satisfies (keyof typeof facts)[]

const merged = {
  action: 'pr_merged',
  user: { name: 'Ada Lovelace', email: 'ada@example.com' },
  commit_sha: '8f3a1c5e7b9d2f4a6c8e0b1d3f5a7c9e1b3d5f7a',
  pr_number: 42,
  pr_url: 'https://github.com/acme/prompts/pull/42',
  branch_name: 'main',
  created_at: '2026-11-14T16:05:00.000Z',
} as const

export const historyEntryExample = { id: 1042, ...merged } as const

export const newHistoryEntrySchema = {
  title: 'NewHistoryEntry',
  type: 'object',
  required: factNames,
  properties: facts,
  examples: [merged],
} as const

export const historyEntrySchema = {
  title: 'HistoryEntry',
  type: 'object',
  required: ['id', ...factNames],
  properties: { id: { type: 'integer', description: 'Identifier of the history entry' }, ...facts },
  additionalProperties: false,
} as const

export const historyPageSchema = {
  type: 'object',
  required: ['data', 'pagination'],
  properties: { data: { type: 'array', items: historyEntrySchema }, pagination: paginationSchema },
  additionalProperties: false,
  description: 'The entries of the page, newest first',
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

export type HistoryEntryBody = FromSchema<typeof historyEntrySchema>
export type NewHistoryEntryBody = FromSchema<typeof newHistoryEntrySchema>
