import type { FromSchema } from 'json-schema-to-ts'
import { channels } from '../../domain/alerts/alert.ts'
import { alertDeliveryStates } from '../../domain/alerts/delivery.ts'
import { deliveryEvents } from '../../domain/alerts/event.ts'
import { regressionSorts, regressionStates, repairs } from '../../domain/regressions/regression.ts'
import { destinationSchema } from '../alerts/delivery-schema.ts'
import { historyEntryExample, historyEntrySchema } from '../history/schema.ts'
import { pageQuerySchema, paginationExample, paginationSchema } from '../page-schema.ts'
import { promptId, promptIdExample } from '../prompts/id-schema.ts'

const time = { type: 'string', format: 'date-time' } as const
const timeOrNull = { type: ['string', 'null'], format: 'date-time' } as const

/** The prompt that an item of a list for the whole organisation belongs to. */
export const promptNameSchema = {
  type: 'object',
  required: ['id', 'name'],
  properties: { id: { type: 'string', description: 'The public ID (prefix pmt_)' }, name: { type: 'string' } },
  additionalProperties: false,
} as const

const fields = {
  id: { type: 'integer' },
  prompt: promptNameSchema,
  state: {
    enum: regressionStates,
    description:
      '`open` until the rate is back or the change is reverted (`repaired`), the votes no longer speak against the change ' +
      '(`withdrawn`), or it is `dismissed`. A withdrawn one opens again if the verdict is `worse` again',
  },
  change: historyEntrySchema,
  opened_at: { ...time, description: 'When the verdict was `worse` for the first time' },
  live_from: { ...timeOrNull, description: 'Since when the change is live; null if it is unknown' },
  rate_before: { type: 'number', description: 'Share of positive signals before the change' },
  rate_after: { type: 'number', description: 'The same after it, as of the last time that the verdict was `worse`' },
  signals_before: {
    type: ['integer', 'null'],
    description: 'How many signals `rate_before` is of; null if it is unknown',
  },
  signals_after: {
    type: ['integer', 'null'],
    description: 'How many signals `rate_after` is of; null if it is unknown',
  },
  difference: { type: 'number', description: 'The rate after minus the rate before' },
  interval: {
    type: 'array',
    items: { type: 'number' },
    minItems: 2,
    maxItems: 2,
    description: '95% confidence range of the true difference',
  },
  explanation: {
    type: 'string',
    description: 'What the verdict rests on. Of a withdrawn regression, why the verdict was taken back',
  },
  repaired_at: timeOrNull,
  repaired_by: {
    enum: [...repairs, null],
    description: '`rate` if the rate is back, `revert` if the prompt has its text from before the change again',
  },
  repaired_entry: {
    anyOf: [historyEntrySchema, { type: 'null' }],
    description: 'The change that repaired it; null if the rate came back without one',
  },
  withdrawn_at: { ...timeOrNull, description: 'When the verdict was taken back' },
  dismissed_at: timeOrNull,
  dismissed_by: { type: ['string', 'null'], description: 'The name of the key that dismissed it' },
  note: { type: ['string', 'null'], description: 'Why it was dismissed' },
} as const

export const regressionSchema = {
  title: 'Regression',
  description: 'A change that made a prompt worse',
  type: 'object',
  required: Object.keys(fields) as (keyof typeof fields)[],
  properties: fields,
  additionalProperties: false,
} as const

export const regressionExample = {
  id: 5,
  prompt: { id: promptIdExample, name: 'Support answers' },
  state: 'open',
  change: historyEntryExample,
  opened_at: '2026-11-15T03:00:00.000Z',
  live_from: '2026-11-14T16:05:00.000Z',
  rate_before: 0.85,
  rate_after: 0.75,
  signals_before: 1_000,
  signals_after: 1_000,
  difference: -0.1,
  interval: [-0.14, -0.06],
  explanation:
    '75% of 1,000 votes are positive after this change, 85% of 1,000 votes before it. A fall of this size at this moment is ' +
    'at least 20 times more likely with an effect of the change than without one.',
  repaired_at: null,
  repaired_by: null,
  repaired_entry: null,
  withdrawn_at: null,
  dismissed_at: null,
  dismissed_by: null,
  note: null,
} as const

const told = {
  type: 'object',
  required: ['event', 'destination', 'alert', 'state', 'created_at', 'finished_at'],
  properties: {
    event: { enum: deliveryEvents },
    destination: destinationSchema,
    alert: {
      anyOf: [
        {
          type: 'object',
          required: ['name', 'channel'],
          properties: { name: { type: 'string' }, channel: { enum: channels } },
          additionalProperties: false,
        },
        { type: 'null' },
      ],
      description: 'Null for a comment on the pull request, and if the alert was removed',
    },
    state: { enum: alertDeliveryStates },
    created_at: time,
    finished_at: { ...timeOrNull, description: 'When it was sent, or given up' },
  },
  additionalProperties: false,
} as const

const regressionDetails = {
  title: 'RegressionDetails',
  description: 'A regression, and who was told about it',
  type: 'object',
  required: [...regressionSchema.required, 'certain_enough', 'told'],
  properties: {
    ...regressionSchema.properties,
    certain_enough: {
      type: 'boolean',
      description: 'Whether it is certain enough to tell people, which needs more than the verdict `worse`',
    },
    told: {
      type: 'array',
      items: told,
      description: 'What was sent about it to alerts and the pull request, newest first',
    },
  },
  additionalProperties: false,
} as const

export const regressionDetailsSchema = {
  type: 'object',
  required: ['data'],
  properties: { data: regressionDetails },
  additionalProperties: false,
  description: 'The regression',
  examples: [
    {
      data: {
        ...regressionExample,
        certain_enough: true,
        told: [
          {
            event: 'regression.opened',
            destination: 'alert',
            alert: { name: 'Support team', channel: 'slack' },
            state: 'sent',
            created_at: '2026-11-15T03:20:00.000Z',
            finished_at: '2026-11-15T03:20:01.000Z',
          },
        ],
      },
    },
  ],
} as const

export const regressionPageSchema = {
  type: 'object',
  required: ['data', 'pagination'],
  properties: { data: { type: 'array', items: regressionSchema }, pagination: paginationSchema },
  additionalProperties: false,
  description: 'One page of regressions',
  examples: [{ data: [regressionExample], pagination: paginationExample(1) }],
} as const

export const oneRegressionSchema = {
  type: 'object',
  required: ['data'],
  properties: { data: regressionSchema },
  additionalProperties: false,
  description: 'The regression',
  examples: [
    {
      data: {
        ...regressionExample,
        state: 'dismissed',
        dismissed_at: '2026-11-15T09:00:00.000Z',
        dismissed_by: 'Ada',
        note: 'We accept it: answers are shorter on purpose.',
      },
    },
  ],
} as const

/** Each sort key, and the same key prefixed with `-` for descending order. */
export const regressionSortValues = regressionSorts.flatMap((sort) => [sort, `-${sort}` as const])

export const regressionQuerySchema = {
  type: 'object',
  properties: {
    state: { type: 'string', enum: regressionStates, description: 'Only regressions in this state' },
    sort: {
      type: 'string',
      enum: regressionSortValues,
      default: '-opened_at',
      description: 'Prefix with `-` for descending order. `difference`: the largest loss first',
    },
    ...pageQuerySchema.properties,
  },
} as const

export const regressionParamsSchema = {
  type: 'object',
  required: ['prompt_id', 'regression_id'],
  properties: {
    prompt_id: promptId,
    regression_id: { type: 'integer', description: 'The ID of the regression', examples: [regressionExample.id] },
  },
} as const

export const dismissalSchema = {
  title: 'Dismissal',
  description: 'Why a regression is dismissed',
  type: 'object',
  required: ['note'],
  properties: { note: { type: 'string', minLength: 1, maxLength: 2_000, description: 'Shown with the regression' } },
  examples: [{ note: 'We accept it: answers are shorter on purpose.' }],
} as const

export type RegressionDetailsBody = FromSchema<typeof regressionDetails>
export type RegressionBody = FromSchema<typeof regressionSchema>
export type DismissalBody = FromSchema<typeof dismissalSchema>
