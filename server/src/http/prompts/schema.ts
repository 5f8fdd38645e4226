import type { FromSchema } from 'json-schema-to-ts'
import { verdicts } from '../../domain/impact/verdict.ts'
import { promptSorts } from '../../domain/prompt.ts'
import { historyEntryExample, historyEntrySchema } from '../history/schema.ts'
import { pageQuerySchema, paginationExample, paginationSchema } from '../page-schema.ts'
import { regressionSchema } from '../regressions/schema.ts'
import { intervalTally, tally } from '../signals/tally-schema.ts'
import { promptIdExample } from './id-schema.ts'

/** Each sort key, and the same key prefixed with `-` for descending order. */
export const promptSortValues = promptSorts.flatMap((sort) => [sort, `-${sort}` as const])

export const promptQuerySchema = {
  type: 'object',
  properties: {
    q: { type: 'string', default: '', description: 'Matches part of the name or path, ignoring case' },
    sort: {
      type: 'string',
      enum: promptSortValues,
      default: 'name',
      description:
        'Prefix with `-` for descending order. `effect`: of the last change, as last judged in the background: worse, ' +
        'unexplained, no clear difference, better. Prompts without a change, without signals in the last 30 days, or with too ' +
        'little data come last. `regression`: open regressions, the largest loss first, then the other prompts by the share of ' +
        'positive signals, the lowest first',
    },
    ...pageQuerySchema.properties,
  },
} as const

const name = {
  type: 'string',
  description:
    'One line of up to 1,000 characters. Unique in the organisation, except among prompts of earlier versions',
} as const

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
  first_version: false,
  signals: {
    positive: 812,
    negative: 97,
    days: [{ start: '2026-10-17T00:00:00.000Z', positive: 812, negative: 97 }],
  },
  regression: null,
} as const

const promptSchema = {
  title: 'Prompt',
  description: 'A prompt, with its last change and recent signals',
  type: 'object',
  required: ['id', 'name', 'path', 'created_at', 'last_change', 'verdict', 'first_version', 'signals', 'regression'],
  properties: {
    id: { type: 'string', description: 'The public ID (prefix pmt_)' },
    name,
    path: { type: ['string', 'null'], description: "Path of the prompt's file in its repository; null if it has none" },
    created_at: { type: 'string', format: 'date-time' },
    last_change: {
      anyOf: [historyEntrySchema, { type: 'null' }],
      description:
        'The change that went live last, by a deployment to production or by its merge; null if there is none',
    },
    verdict: {
      type: ['string', 'null'],
      enum: [...verdicts, null],
      description: 'Effect of the last change on user feedback; null if there is no change',
    },
    first_version: {
      type: 'boolean',
      description: 'Whether the last change is the first version, which there is nothing to compare with',
    },
    signals: {
      type: 'object',
      description: 'Signals of the last 30 days including today, UTC',
      required: ['positive', 'negative', 'days'],
      properties: {
        ...tally,
        days: {
          type: 'array',
          description: 'Counts per day, including days without signals',
          items: intervalTally,
        },
      },
      additionalProperties: false,
    },
    regression: {
      anyOf: [regressionSchema, { type: 'null' }],
      description: 'The open regression with the largest loss; null if there is none',
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
  description: 'One page of prompts',
  examples: [{ data: [promptExample], pagination: paginationExample(1) }],
} as const

export type PromptBody = FromSchema<typeof promptSchema>
export type PromptNameBody = FromSchema<typeof promptNameSchema>
