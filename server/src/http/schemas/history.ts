import type { FromSchema } from 'json-schema-to-ts'
import { actions } from '../../domain/history.ts'
import { paginationSchema } from './pagination.ts'

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

export const newHistoryEntrySchema = { type: 'object', required: factNames, properties: facts } as const

export const historyEntrySchema = {
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
} as const

export type HistoryEntryBody = FromSchema<typeof historyEntrySchema>
export type NewHistoryEntryBody = FromSchema<typeof newHistoryEntrySchema>
