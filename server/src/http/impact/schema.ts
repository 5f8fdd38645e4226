import type { FromSchema } from 'json-schema-to-ts'
import { actions } from '../../domain/history/entry.ts'
import { verdicts } from '../../domain/impact/verdict.ts'
import { historyEntryExample, historyEntrySchema } from '../history/schema.ts'
import { pageQuerySchema, paginationExample, paginationSchema } from '../page-schema.ts'
import { tally } from '../signals/tally-schema.ts'

const ratedTally = {
  type: 'object',
  required: ['positive', 'negative', 'rate'],
  properties: { ...tally, rate: { type: ['number', 'null'], description: 'The share of positive ones' } },
  additionalProperties: false,
} as const

const effect = {
  live_from: { type: 'string', format: 'date-time' },
  live_until: { type: ['string', 'null'], format: 'date-time', description: 'Null for what is live now' },
  before: { ...ratedTally, description: 'Signals while the change before was live' },
  after: { ...ratedTally, description: 'Signals while this change was live' },
  difference: { type: ['number', 'null'], description: 'The rate after less the rate before' },
  interval: {
    type: ['array', 'null'],
    items: { type: 'number' },
    minItems: 2,
    maxItems: 2,
    description: 'Where the true difference lies, with 95 % confidence',
  },
  verdict: { enum: verdicts },
} as const

const effectNames = [
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
        required: ['entry', ...effectNames],
        properties: { entry: historyEntrySchema, ...effect },
        additionalProperties: false,
      },
    },
    pagination: paginationSchema,
  },
  additionalProperties: false,
  description: 'The changes of the page',
  examples: [{ data: [{ entry: historyEntryExample, ...effectExample }], pagination: paginationExample(1) }],
} as const

const textOrNull = { type: ['string', 'null'] } as const

const timelineEntrySchema = {
  title: 'TimelineEntry',
  type: 'object',
  required: ['entry', 'message', 'actor', 'path', 'commit_url', 'impact'],
  properties: {
    entry: historyEntrySchema,
    message: { ...textOrNull, description: "The commit's message, or the title of the pull request" },
    actor: { ...textOrNull, description: 'Who pushed, opened, merged or closed it, by the name that the forge knows' },
    path: { ...textOrNull, description: "Where the prompt's file was" },
    commit_url: { ...textOrNull, description: "The commit's page; null where the repository is not known" },
    impact: {
      anyOf: [
        { type: 'object', required: effectNames, properties: effect, additionalProperties: false },
        { type: 'null' },
      ],
      description: 'What it did to what users think; null for what did not go live',
    },
  },
  additionalProperties: false,
} as const

export const timelineSchema = {
  type: 'object',
  required: ['data', 'pagination'],
  properties: { data: { type: 'array', items: timelineEntrySchema }, pagination: paginationSchema },
  additionalProperties: false,
  description: 'The entries of the page, newest first',
  examples: [
    {
      data: [
        {
          entry: historyEntryExample,
          message: 'Answer in the language of the question (#42)',
          actor: 'ada',
          path: 'prompts/support.md',
          commit_url: `https://github.com/acme/prompts/commit/${historyEntryExample.commit_sha}`,
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
      description: `Only these: one or several of ${actions.join(', ')}, with commas between`,
      examples: ['deployed,pr_merged'],
    },
    since: { ...time, description: 'From this time on' },
    until: { ...time, description: 'Before this time', examples: ['2026-12-01T00:00:00.000Z'] },
    ...pageQuerySchema.properties,
  },
} as const

export type EffectBody = FromSchema<(typeof timelineEntrySchema)['properties']['impact']['anyOf'][0]>
export type TimelineEntryBody = FromSchema<typeof timelineEntrySchema>
