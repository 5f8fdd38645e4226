import type { FromSchema } from 'json-schema-to-ts'
import { actions } from '../../domain/history/entry.ts'
import { pullEntries } from '../../domain/history/history.ts'
import { liveSources } from '../../domain/impact/live-window.ts'
import { hiddenStatusSchema } from '../history/hidden-characters.ts'
import { historyEntryExample, historyEntrySchema } from '../history/schema.ts'
import { pageQuerySchema, paginationExample, paginationSchema } from '../page-schema.ts'
import { tally } from '../signals/tally-schema.ts'
import { asOfSchema } from './as-of.ts'
import { effectParts } from './effect-parts.ts'
import { segmentsSchema } from './segment-schema.ts'

export const liveSourceSchema = {
  enum: liveSources,
  description:
    'How it is known when the change went live: by a deployment to production, or by its merge if none is recorded',
} as const

export const liveWindowSchema = {
  title: 'LiveWindow',
  description: 'A time in which a change was live',
  type: 'object',
  required: ['from', 'until', 'share', 'live_source', 'environment'],
  properties: {
    from: { type: 'string', format: 'date-time' },
    until: { type: ['string', 'null'], format: 'date-time', description: 'Null if it is still live' },
    share: { type: 'number', description: 'The part of the traffic that it served' },
    live_source: liveSourceSchema,
    environment: { type: ['string', 'null'], description: 'Where it was deployed to; null for a merge' },
  },
  additionalProperties: false,
} as const

const effect = {
  live_from: { type: 'string', format: 'date-time' },
  live_until: { type: ['string', 'null'], format: 'date-time', description: 'Null if the change is still live' },
  live_source: liveSourceSchema,
  live_windows: {
    type: 'array',
    items: liveWindowSchema,
    description: 'Every time in which it was live, in order, up to the newest 20: several after a rollback or a canary',
  },
  before: effectParts.before,
  after: {
    ...effectParts.after,
    description:
      'Signals of this change: those that name it as their version, and those without a version while it was live',
  },
  attributed_by: {
    type: 'object',
    description: 'How it is known that the signals in `before` and `after` count for these changes, with their numbers',
    required: ['version', 'deployment', 'time'],
    properties: {
      version: { type: 'integer', description: 'The signal names the version' },
      deployment: { type: 'integer', description: 'Without a version, while the change was deployed' },
      time: { type: 'integer', description: 'Without a version, between the merge of the change and the next one' },
    },
    additionalProperties: false,
  },
  unattributed: {
    type: 'integer',
    description:
      'Of the signals in `after`, those without a version that came while another version was live too. They are credited ' +
      'to the version with the larger share',
  },
  effective_signals: effectParts.effective_signals,
  difference: effectParts.difference,
  interval: effectParts.interval,
  verdict: effectParts.verdict,
  explanation: effectParts.explanation,
  first_version: {
    type: 'boolean',
    description:
      'No change was live before it, so there is nothing to compare it with. Then the verdict is `too_little_data`',
  },
} as const

const effectFields = [
  'live_from',
  'live_until',
  'live_source',
  'live_windows',
  'before',
  'after',
  'attributed_by',
  'unattributed',
  'effective_signals',
  'difference',
  'interval',
  'verdict',
  'explanation',
  'first_version',
] as const satisfies (keyof typeof effect)[]

const effectExample = {
  live_from: historyEntryExample.created_at,
  live_until: null,
  live_source: 'merge',
  live_windows: [
    { from: historyEntryExample.created_at, until: null, share: 1, live_source: 'merge', environment: null },
  ],
  before: { positive: 850, negative: 150, rate: 0.85 },
  after: { positive: 750, negative: 250, rate: 0.75 },
  attributed_by: { version: 0, deployment: 0, time: 2_000 },
  unattributed: 0,
  effective_signals: 1_706,
  difference: -0.1,
  interval: [-0.1378, -0.0619],
  verdict: 'worse',
  explanation:
    '75% of 1,000 votes are positive after this change, 85% of 1,000 votes before it. A fall of this size at this moment is at ' +
    'least 20 times more likely with an effect of the change than without one.',
  first_version: false,
} as const

const unknownVersionsSchema = {
  title: 'UnknownVersions',
  description:
    'Signals that name a version which is no change of the prompt, or could be several. They count for no change',
  type: 'object',
  required: ['positive', 'negative', 'versions'],
  properties: {
    ...tally,
    versions: {
      type: 'array',
      description: 'The 20 versions with the most signals',
      items: {
        type: 'object',
        required: ['version', 'positive', 'negative'],
        properties: { version: { type: ['string', 'integer'], description: 'As it was sent' }, ...tally },
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
} as const

const unknownVersionsExample = { positive: 0, negative: 0, versions: [] }

const segmentsOfChange = {
  anyOf: [segmentsSchema, { type: 'null' }],
  description: 'Only with `by`; null if the change did not go live, or if there is no change before it',
} as const

export const impactSchema = {
  type: 'object',
  required: ['data', 'pagination', 'unknown_versions'],
  properties: {
    data: {
      type: 'array',
      description: 'The changes that went live, newest first',
      items: {
        type: 'object',
        required: ['entry', ...effectFields],
        properties: { entry: historyEntrySchema, ...effect, segments: segmentsOfChange },
        additionalProperties: false,
      },
    },
    pagination: paginationSchema,
    unknown_versions: unknownVersionsSchema,
  },
  additionalProperties: false,
  description: 'One page of changes',
  examples: [
    {
      data: [{ entry: historyEntryExample, ...effectExample }],
      pagination: paginationExample(1),
      unknown_versions: unknownVersionsExample,
    },
  ],
} as const

const textOrNull = { type: ['string', 'null'] } as const

const pullStep = {
  type: ['object', 'null'],
  required: ['entry_id', 'action', 'created_at'],
  properties: {
    entry_id: { type: 'integer', description: 'The entry that recorded it' },
    action: { enum: actions },
    created_at: { type: 'string', format: 'date-time' },
  },
  additionalProperties: false,
} as const

const pullSpanSchema = {
  type: ['object', 'null'],
  description: 'The course of its pull request, as far as it is in the history of this prompt; null without one',
  required: ['opened', 'outcome'],
  properties: {
    opened: { ...pullStep, description: 'When it was opened; null if that is not recorded' },
    outcome: { ...pullStep, description: 'When it was merged, or closed last; null while it is open' },
  },
  additionalProperties: false,
} as const

const timelineEntrySchema = {
  title: 'TimelineEntry',
  description: 'A recorded change of a prompt, with its details and its effect on user feedback',
  type: 'object',
  required: ['entry', 'message', 'actor', 'path', 'commit_url', 'hidden_characters', 'pull', 'impact'],
  properties: {
    entry: historyEntrySchema,
    message: { ...textOrNull, description: 'The commit message, or the title of the pull request' },
    actor: { ...textOrNull, description: 'The forge user who pushed, opened, merged or closed it' },
    path: { ...textOrNull, description: "Path of the prompt's file at that time" },
    commit_url: { ...textOrNull, description: "The commit's page on the forge; null if the repository is unknown" },
    hidden_characters: hiddenStatusSchema,
    pull: pullSpanSchema,
    impact: {
      anyOf: [
        { type: 'object', required: effectFields, properties: effect, additionalProperties: false },
        { type: 'null' },
      ],
      description: 'Effect on user feedback; null if the change did not go live',
    },
    segments: segmentsOfChange,
  },
  additionalProperties: false,
} as const

const timelineEntryExample = {
  entry: historyEntryExample,
  message: 'Answer in the language of the question (#42)',
  actor: 'ada',
  path: 'prompts/support.md',
  commit_url: `https://github.com/acme/prompts/commit/${historyEntryExample.commit_sha}`,
  hidden_characters: { present: false, added: false },
  pull: {
    opened: { entry_id: 1040, action: 'pr_opened', created_at: '2026-11-13T10:20:00.000Z' },
    outcome: { entry_id: 1042, action: 'pr_merged', created_at: historyEntryExample.created_at },
  },
  impact: effectExample,
} as const

export const timelineEntryResponseSchema = {
  type: 'object',
  required: ['data'],
  properties: { data: timelineEntrySchema },
  additionalProperties: false,
  description: 'The entry',
  examples: [{ data: timelineEntryExample }],
} as const

export const timelineSchema = {
  type: 'object',
  required: ['data', 'pagination', 'unknown_versions'],
  properties: {
    data: { type: 'array', items: timelineEntrySchema },
    pagination: paginationSchema,
    unknown_versions: unknownVersionsSchema,
  },
  additionalProperties: false,
  description: 'One page of entries, newest first',
  examples: [
    {
      data: [timelineEntryExample],
      pagination: paginationExample(1),
      unknown_versions: unknownVersionsExample,
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
    pulls: {
      enum: pullEntries,
      default: 'all',
      description:
        '`outcome`: one row for each pull request that was merged or closed, without its opening, which is in `pull`. Filters ' +
        'select from these rows',
    },
    as_of: asOfSchema,
    ...pageQuerySchema.properties,
  },
} as const

export type EffectBody = FromSchema<(typeof timelineEntrySchema)['properties']['impact']['anyOf'][0]>
export type LiveWindowBody = FromSchema<typeof liveWindowSchema>
export type UnknownVersionsBody = FromSchema<typeof unknownVersionsSchema>
export type TimelineEntryBody = FromSchema<typeof timelineEntrySchema>
