import type { FromSchema } from 'json-schema-to-ts'
import { readerRoles } from '../server/src/domain/access/api-key.ts'
import { verdicts } from '../server/src/domain/impact/model/verdict.ts'
import { nameTaken, promptSorts } from '../server/src/domain/prompt.ts'
import { historyEntryExample, historyEntrySchema } from './history.ts'
import { defineOperations } from './operation.ts'
import { promptIdExample, promptParamsSchema } from './prompt-id.ts'
import { regressionSchema } from './regressions.ts'
import { conflictSchema, invalidSchema, list, object, one, pageQuerySchema } from './schema.ts'
import { intervalTally, tally } from './signals.ts'

/** Each sort key, and the same key prefixed with `-` for descending order. */
export const promptSortValues = promptSorts.flatMap((sort) => [sort, `-${sort}` as const])

const promptQuerySchema = {
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
  ...pageQuerySchema,
} as const

const name = {
  type: 'string',
  description:
    'One line of up to 1,000 characters. Unique in the organisation, except among prompts of earlier versions',
} as const

const promptNameSchema = {
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

const promptSchema = object(
  {
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
    signals: object(
      {
        ...tally,
        days: {
          type: 'array',
          description: 'Counts per day, including days without signals',
          items: intervalTally,
        },
      },
      { description: 'Signals of the last 30 days including today, UTC', shared: ['positive', 'negative', 'days'] },
    ),
    regression: {
      anyOf: [regressionSchema, { type: 'null' }],
      description: 'The open regression with the largest loss; null if there is none',
    },
  },
  {
    title: 'Prompt',
    description: 'A prompt, with its last change and recent signals',
    shared: ['id', 'created_at', 'last_change', 'verdict', 'first_version', 'signals', 'regression'],
    verbatim: ['name', 'path'],
  },
)

export const onePromptSchema = one(promptSchema, 'The prompt', promptExample)

export const promptPageSchema = list(promptSchema, 'One page of prompts', [promptExample])

export type PromptBody = FromSchema<typeof promptSchema>

export type PromptNameBody = FromSchema<typeof promptNameSchema>

const invalidSort = `sort must be one of ${promptSortValues.join(', ')}`

export const operations = defineOperations('Prompts', {
  listPrompts: {
    method: 'GET',
    path: '/api/v1/prompts',
    client: 'prompts.list',
    summary: 'List prompts',
    description: 'With the last change, its verdict and the signals of the last 30 days.',
    roles: readerRoles,
    query: promptQuerySchema,
    response: { 200: promptPageSchema, 422: invalidSchema(invalidSort) },
  },

  createPrompt: {
    method: 'POST',
    path: '/api/v1/prompts',
    client: 'prompts.create',
    summary: 'Create a prompt',
    description:
      'For a prompt whose file is not in a connected repository. Prompts of connected repositories are created automatically.',
    roles: ['admin'],
    body: promptNameSchema,
    response: {
      201: onePromptSchema,
      409: conflictSchema(nameTaken(promptIdExample).message),
      422: invalidSchema('name is required'),
    },
  },

  getPrompt: {
    method: 'GET',
    path: '/api/v1/prompts/:prompt_id',
    client: 'prompts.get',
    summary: 'Get a prompt',
    roles: readerRoles,
    shared: 'always',
    params: promptParamsSchema,
    response: { 200: onePromptSchema },
  },

  renamePrompt: {
    method: 'PATCH',
    path: '/api/v1/prompts/:prompt_id',
    client: 'prompts.rename',
    summary: 'Rename a prompt',
    roles: ['admin'],
    params: promptParamsSchema,
    body: promptNameSchema,
    response: {
      200: onePromptSchema,
      409: conflictSchema(nameTaken(promptIdExample).message),
      422: invalidSchema('name is required'),
    },
  },

  deletePrompt: {
    method: 'DELETE',
    path: '/api/v1/prompts/:prompt_id',
    client: 'prompts.delete',
    summary: 'Delete a prompt',
    description: 'Requests for the prompt get 404 from now on. Its signals still count towards the monthly limit.',
    roles: ['admin'],
    params: promptParamsSchema,
    response: { 204: { type: 'null', description: 'The prompt is deleted' } },
  },
})
