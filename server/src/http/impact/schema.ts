import type { FromSchema } from 'json-schema-to-ts'
import { actions } from '../../domain/history/entry.ts'
import { verdicts } from '../../domain/impact/verdict.ts'
import { hiddenStatusSchema } from '../history/hidden-characters.ts'
import { historyEntryExample, historyEntrySchema } from '../history/schema.ts'
import { pageQuerySchema, paginationExample, paginationSchema } from '../page-schema.ts'
import { tally } from '../signals/tally-schema.ts'

const ratedTally = {
  type: 'object',
  required: ['positive', 'negative', 'rate'],
  properties: {
    ...tally,
    rate: { type: ['number', 'null'], description: 'Share of positive signals; null without signals' },
  },
  additionalProperties: false,
} as const

const effect = {
  live_from: { type: 'string', format: 'date-time' },
  live_until: { type: ['string', 'null'], format: 'date-time', description: 'Null if the change is still live' },
  before: { ...ratedTally, description: 'Signals while the previous change was live' },
  after: { ...ratedTally, description: 'Signals while this change was live' },
  difference: { type: ['number', 'null'], description: 'The rate after minus the rate before' },
  interval: {
    type: ['array', 'null'],
    items: { type: 'number' },
    minItems: 2,
    maxItems: 2,
    description: '95% confidence range of the true difference',
  },
  verdict: { enum: verdicts },
} as const

const effectFields = [
  'live_from',
  'live_until',
  'before',
  'after',
  'difference',
  'interval',
  'verdict',
] as const satisfies (keyof typeof effect)[]

const effectExample = {
  live_from: historyEntryExample.created_at,
  live_until: null,
  before: { positive: 850, negative: 150, rate: 0.85 },
  after: { positive: 750, negative: 250, rate: 0.75 },
  difference: -0.1,
  interval: [-0.1348, -0.0649],
  verdict: 'worse',
} as const

export const impactSchema = {
  type: 'object',
  required: ['data', 'pagination'],
  properties: {
    data: {
      type: 'array',
      description: 'The changes that went live, newest first',
      items: {
        type: 'object',
        required: ['entry', ...effectFields],
        properties: { entry: historyEntrySchema, ...effect },
        additionalProperties: false,
      },
    },
    pagination: paginationSchema,
  },
  additionalProperties: false,
  description: 'One page of changes',
  examples: [{ data: [{ entry: historyEntryExample, ...effectExample }], pagination: paginationExample(1) }],
} as const

const textOrNull = { type: ['string', 'null'] } as const

const timelineEntrySchema = {
  title: 'TimelineEntry',
  description: 'A recorded change of a prompt, with its details and its effect on user feedback',
  type: 'object',
  required: ['entry', 'message', 'actor', 'path', 'commit_url', 'hidden_characters', 'impact'],
  properties: {
    entry: historyEntrySchema,
    message: { ...textOrNull, description: 'The commit message, or the title of the pull request' },
    actor: { ...textOrNull, description: 'The forge user who pushed, opened, merged or closed it' },
    path: { ...textOrNull, description: "Path of the prompt's file at that time" },
    commit_url: { ...textOrNull, description: "The commit's page on the forge; null if the repository is unknown" },
    hidden_characters: hiddenStatusSchema,
    impact: {
      anyOf: [
        { type: 'object', required: effectFields, properties: effect, additionalProperties: false },
        { type: 'null' },
      ],
      description: 'Effect on user feedback; null if the change did not go live',
    },
  },
  additionalProperties: false,
} as const

export const timelineSchema = {
  type: 'object',
  required: ['data', 'pagination'],
  properties: { data: { type: 'array', items: timelineEntrySchema }, pagination: paginationSchema },
  additionalProperties: false,
  description: 'One page of entries, newest first',
  examples: [
    {
      data: [
        {
          entry: historyEntryExample,
          message: 'Answer in the language of the question (#42)',
          actor: 'ada',
          path: 'prompts/support.md',
          commit_url: `https://github.com/acme/prompts/commit/${historyEntryExample.commit_sha}`,
          hidden_characters: { present: false, added: false },
          impact: effectExample,
        },
      ],
      pagination: paginationExample(1),
    },
  ],
} as const

const time = { type: 'string', format: 'date-time', examples: ['2026-11-01T00:00:00.000Z'] } as const

export const timelineQuerySchema = {
  type: 'object',
  properties: {
    action: {
      type: 'string',
      description: `Only these actions: one or more of ${actions.join(', ')}, separated by commas`,
      examples: ['deployed,pr_merged'],
    },
    since: { ...time, description: 'From this time, inclusive' },
    until: { ...time, description: 'Until this time, exclusive', examples: ['2026-12-01T00:00:00.000Z'] },
    ...pageQuerySchema.properties,
  },
} as const

export type EffectBody = FromSchema<(typeof timelineEntrySchema)['properties']['impact']['anyOf'][0]>
export type TimelineEntryBody = FromSchema<typeof timelineEntrySchema>
