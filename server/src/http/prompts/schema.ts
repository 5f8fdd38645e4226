import type { FromSchema } from 'json-schema-to-ts'
import { verdicts } from '../../domain/impact/verdict.ts'
import { promptSorts } from '../../domain/prompt.ts'
import { historyEntryExample, historyEntrySchema } from '../history/schema.ts'
import { pageQuerySchema, paginationExample, paginationSchema } from '../page-schema.ts'
import { intervalTally, tally } from '../signals/tally-schema.ts'
import { promptIdExample } from './id-schema.ts'

/** Each of them, and with `-` before it, downwards. */
export const promptSortWords = promptSorts.flatMap((sort) => [sort, `-${sort}` as const])

export const promptQuerySchema = {
  type: 'object',
  properties: {
    q: { type: 'string', default: '', description: 'A part of the name or the path, in any case' },
    sort: {
      type: 'string',
      enum: promptSortWords,
      default: 'name',
      description: 'Upwards, or downwards with `-`; what has no change or no signals of the last 30 days comes last',
    },
    ...pageQuerySchema.properties,
  },
} as const

const name = { type: 'string', description: 'A line of up to 1,000 characters' } as const

export const promptNameSchema = {
  type: 'object',
  required: ['name'],
  properties: { name },
  examples: [{ name: 'Support answers' }],
} as const

const promptExample = {
  id: promptIdExample,
  name: 'Support answers',
  path: 'prompts/support.md',
  created_at: '2026-11-01T08:00:00.000Z',
  last_change: historyEntryExample,
  verdict: 'better',
  signals: {
    positive: 812,
    negative: 97,
    days: [{ start: '2026-10-17T00:00:00.000Z', positive: 812, negative: 97 }],
  },
} as const

const promptSchema = {
  title: 'Prompt',
  type: 'object',
  required: ['id', 'name', 'path', 'created_at', 'last_change', 'verdict', 'signals'],
  properties: {
    id: { type: 'string', description: 'The public ID (prefix pmt_)' },
    name,
    path: { type: ['string', 'null'], description: "Where the prompt's file is; null where it has none" },
    created_at: { type: 'string', format: 'date-time' },
    last_change: {
      anyOf: [historyEntrySchema, { type: 'null' }],
      description: 'The newest entry of the history that is deployed or pr_merged',
    },
    verdict: {
      type: ['string', 'null'],
      enum: [...verdicts, null],
      description: 'What the last change did to what users think; null where there is none',
    },
    signals: {
      type: 'object',
      description: 'Those of the last 30 days, today included, UTC',
      required: ['positive', 'negative', 'days'],
      properties: {
        ...tally,
        days: {
          type: 'array',
          description: 'The same by day, the empty ones too',
          items: intervalTally,
        },
      },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
} as const

export const onePromptSchema = {
  type: 'object',
  required: ['data'],
  properties: { data: promptSchema },
  additionalProperties: false,
  description: 'The prompt',
  examples: [{ data: promptExample }],
} as const

export const promptPageSchema = {
  type: 'object',
  required: ['data', 'pagination'],
  properties: { data: { type: 'array', items: promptSchema }, pagination: paginationSchema },
  additionalProperties: false,
  description: 'The prompts of the page',
  examples: [{ data: [promptExample], pagination: paginationExample(1) }],
} as const

export type PromptBody = FromSchema<typeof promptSchema>
export type PromptNameBody = FromSchema<typeof promptNameSchema>
