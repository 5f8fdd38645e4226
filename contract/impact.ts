import type { FromSchema } from 'json-schema-to-ts'
import { readerRoles } from '../server/src/domain/access/api-key.ts'
import { actions } from '../server/src/domain/history/entry.ts'
import { pullEntries } from '../server/src/domain/history/history.ts'
import { liveSources } from '../server/src/domain/impact/live/live-window.ts'
import { verdicts } from '../server/src/domain/impact/model/verdict.ts'
import { modelSources } from '../server/src/domain/telemetry/model-changes.ts'
import {
  entryParamsSchema,
  hiddenStatusSchema,
  historyEntryExample,
  historyEntrySchema,
  trialOfChangeSchema,
} from './history.ts'
import { defineOperations, shared } from './operation.ts'
import { promptParamsSchema } from './prompt-id.ts'
import {
  exportFormats,
  invalidSchema,
  invalidTimeSchema,
  object,
  one,
  pageQuerySchema,
  paginationExample,
  paginationSchema,
  pair,
  periodQuerySchema,
  textOrNull,
} from './schema.ts'
import { tally } from './signals.ts'

const asOfSchema = {
  type: 'string',
  format: 'date-time',
  description: 'Answer as of this time, as if no signal, change or deployment had come after it',
  examples: ['2026-11-01T00:00:00.000Z'],
} as const

export const entryBySchema = {
  type: 'string',
  description: 'Adds the impact in each segment by a declared key of the metadata, such as `metadata.model`',
} as const

const bySchema = {
  ...entryBySchema,
  description: `${entryBySchema.description}. A page then has at most 10 changes`,
} as const

const ratedTally = object(
  {
    ...tally,
    rate: { type: ['number', 'null'], description: 'Share of positive signals; null without signals' },
  },
  { shared: ['positive', 'negative', 'rate'] },
)

/** What responses say about a change as a whole, and about each of its segments. */
const effectParts = {
  before: { ...ratedTally, description: 'Signals of the previous change' },
  after: { ...ratedTally, description: 'Signals of this change' },
  effective_signals: {
    type: 'integer',
    description:
      'How many independent signals those in `before` and `after` are worth. Fewer than there are if their rate drifts, or ' +
      'if voters vote often',
  },
  difference: { type: ['number', 'null'], description: 'The rate after minus the rate before' },
  interval: {
    ...pair(
      { type: 'number' },
      '95% confidence range of the true difference, which allows for votes that drift without any change',
    ),
    type: ['array', 'null'],
  },
  verdict: {
    enum: verdicts,
    description:
      '`unexplained`: the rates differ, but this change does not explain it better than votes that drift, or than another moment',
  },
  explanation: { type: 'string', description: 'What the verdict rests on, in plain words' },
} as const

const effectNames = [
  'before',
  'after',
  'effective_signals',
  'difference',
  'interval',
  'verdict',
  'explanation',
] as const

const { before, after, ...figures } = effectParts

const segmentSchema = object(
  {
    value: { type: ['string', 'null'], description: 'Null for signals without a value, and for `other`' },
    other: { type: 'boolean', description: 'Whether it pools all values beyond the first 20' },
    ...effectParts,
    verdict: {
      ...effectParts.verdict,
      description: 'Of all segments that are called `better` or `worse`, at most 5% are wrong on average',
    },
  },
  {
    title: 'SegmentImpact',
    description: 'User feedback of one segment before and after a change',
    shared: ['other', ...effectNames],
    verbatim: ['value'],
  },
)

const segmentsSchema = object(
  {
    key: { type: 'string' },
    complete: {
      type: 'boolean',
      description:
        'Whether all signals are in it. Otherwise it has the last 20,000 before the change and the first 20,000 after it, or ' +
        'those that are not removed yet',
    },
    mix: {
      type: ['object', 'null'],
      description: 'The difference between both rates in two parts; null if a side has no signals',
      required: ['audience', 'within'],
      properties: {
        audience: { type: 'number', description: 'The part that comes from a different share of each segment' },
        within: { type: 'number', description: 'The part that comes from different rates within segments' },
      },
      [shared]: ['audience', 'within'],
      additionalProperties: false,
    },
    values: { type: 'array', items: segmentSchema },
  },
  {
    title: 'Segments',
    description: 'A change by the values of one key of the metadata',
    shared: ['key', 'complete', 'mix', 'values'],
  },
)

export type SegmentsBody = FromSchema<typeof segmentsSchema>

export const liveSourceSchema = {
  enum: liveSources,
  description:
    'How it is known when the change went live: by a deployment to production, or by its merge if none is recorded',
} as const

export const liveWindowSchema = object(
  {
    from: { type: 'string', format: 'date-time' },
    until: { type: ['string', 'null'], format: 'date-time', description: 'Null if it is still live' },
    share: { type: 'number', description: 'The part of the traffic that it served' },
    live_source: liveSourceSchema,
    environment: { type: ['string', 'null'], description: 'Where it was deployed to; null for a merge' },
  },
  {
    title: 'LiveWindow',
    description: 'A time in which a change was live',
    shared: ['from', 'until', 'share', 'live_source', 'environment'],
  },
)

const effect = {
  live_from: { type: 'string', format: 'date-time' },
  live_until: { type: ['string', 'null'], format: 'date-time', description: 'Null if the change is still live' },
  live_source: liveSourceSchema,
  live_windows: {
    type: 'array',
    items: liveWindowSchema,
    description: 'Every time in which it was live, in order, up to the newest 20: several after a rollback or a canary',
  },
  before,
  after: {
    ...after,
    description:
      'Signals of this change: those that name it as their version, and those without a version while it was live',
  },
  attributed_by: object(
    {
      version: { type: 'integer', description: 'The signal names the version' },
      deployment: { type: 'integer', description: 'Without a version, while the change was deployed' },
      time: { type: 'integer', description: 'Without a version, between the merge of the change and the next one' },
    },
    {
      description:
        'How it is known that the signals in `before` and `after` count for these changes, with their numbers',
      shared: ['version', 'deployment', 'time'],
    },
  ),
  unattributed: {
    type: 'integer',
    description:
      'Of the signals in `after`, those without a version that came while another version was live too. They are credited ' +
      'to the version with the larger share',
  },
  exposures: {
    anyOf: [
      object(
        {
          before: { type: ['integer', 'null'], description: 'Of the version before; null without one' },
          after: { type: 'integer', description: 'Of this version' },
        },
        { title: 'Exposures', shared: ['before', 'after'] },
      ),
      { type: 'null' },
    ],
    description:
      'How often models were called with each version, from OpenTelemetry spans; null if none has told. Signals per call say how many users ' +
      'rate an answer. That alone decides nothing',
  },
  evaluations: {
    type: 'array',
    items: object(
      { name: { type: 'string', description: 'Untrusted text' }, before: ratedTally, after: ratedTally },
      {
        title: 'JudgeScores',
        description: 'Scores of judges for one evaluation',
        shared: ['name', 'before', 'after'],
      },
    ),
    description:
      'Scores of judges from OpenTelemetry, by evaluation, up to 20. They are no votes: no other figure has them, and no verdict reads them',
  },
  ...figures,
  first_version: {
    type: 'boolean',
    description:
      'No change was live before it, so there is nothing to compare it with. Then the verdict is `too_little_data`',
  },
  trial: trialOfChangeSchema,
} as const

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
  exposures: { before: 12_400, after: 12_150 },
  evaluations: [],
  effective_signals: 1_706,
  difference: -0.1,
  interval: [-0.1378, -0.0619],
  verdict: 'worse',
  explanation:
    '75% of 1,000 votes are positive after this change, 85% of 1,000 votes before it. A fall of this size at this moment is at ' +
    'least 20 times more likely with an effect of the change than without one.',
  first_version: false,
  trial: null,
} as const

const unknownVersionsSchema = object(
  {
    ...tally,
    versions: {
      type: 'array',
      description: 'The 20 versions with the most signals',
      items: object(
        { version: { type: ['string', 'integer'], description: 'As it was sent' }, ...tally },
        { shared: ['version', 'positive', 'negative'] },
      ),
    },
  },
  {
    title: 'UnknownVersions',
    shared: ['positive', 'negative', 'versions'],
    description:
      'Signals that name a version which is no change of the prompt, or could be several. They count for no change',
  },
)

const unknownVersionsExample = { positive: 0, negative: 0, versions: [] }

const segmentsOfChange = {
  anyOf: [segmentsSchema, { type: 'null' }],
  description: 'Only with `by`; null if the change did not go live, or if there is no change before it',
} as const

const impactSchema = object(
  {
    data: {
      type: 'array',
      description: 'The changes that went live, newest first',
      items: object({ entry: historyEntrySchema, ...effect, segments: segmentsOfChange }, { optional: ['segments'] }),
    },
    pagination: paginationSchema,
    unknown_versions: unknownVersionsSchema,
  },
  {
    description: 'One page of changes',
    examples: [
      {
        data: [{ entry: historyEntryExample, ...effectExample }],
        pagination: paginationExample(1),
        unknown_versions: unknownVersionsExample,
      },
    ],
  },
)

const pullStep = {
  type: ['object', 'null'],
  required: ['entry_id', 'action', 'created_at'],
  properties: {
    entry_id: { type: 'integer', description: 'The entry that recorded it' },
    action: { enum: actions },
    created_at: { type: 'string', format: 'date-time' },
  },
  [shared]: ['entry_id', 'action', 'created_at'],
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
  [shared]: ['opened', 'outcome'],
  additionalProperties: false,
} as const

const timelineEntrySchema = object(
  {
    entry: historyEntrySchema,
    message: { ...textOrNull, description: 'The commit message, or the title of the pull request' },
    actor: { ...textOrNull, description: 'The forge user who pushed, opened, merged or closed it' },
    path: { ...textOrNull, description: "Path of the prompt's file at that time" },
    commit_url: { ...textOrNull, description: "The commit's page on the forge; null if the repository is unknown" },
    hidden_characters: hiddenStatusSchema,
    pull: pullSpanSchema,
    impact: {
      anyOf: [
        object(effect, {
          shared: [
            'live_from',
            'live_until',
            'live_source',
            'live_windows',
            'attributed_by',
            'unattributed',
            'exposures',
            'evaluations',
            'first_version',
            'trial',
            ...effectNames,
          ],
        }),
        { type: 'null' },
      ],
      description: 'Effect on user feedback; null if the change did not go live',
    },
    segments: segmentsOfChange,
  },
  {
    title: 'TimelineEntry',
    description: 'A recorded change of a prompt, with its details and its effect on user feedback',
    optional: ['segments'],
    shared: ['entry', 'message', 'actor', 'commit_url', 'hidden_characters', 'pull', 'impact', 'segments'],
    verbatim: ['path'],
  },
)

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

export const timelineEntryResponseSchema = one(timelineEntrySchema, 'The entry', timelineEntryExample)

const modelChangeSchema = object(
  {
    action: { enum: ['model_changed'] },
    created_at: {
      type: 'string',
      format: 'date-time',
      description: 'The hour in which it changed, or the time of the deployment',
    },
    old_model: { type: 'string', description: 'Untrusted text' },
    new_model: { type: 'string', description: 'Untrusted text' },
    source: {
      enum: modelSources,
      description: 'Who told of it: OpenTelemetry spans, a deployment with a `model`, or the metadata of signals',
    },
  },
  {
    title: 'ModelChange',
    shared: ['action', 'created_at', 'old_model', 'new_model', 'source'],
    description: 'A time at which another model began to serve most calls',
  },
)

export type ModelChangeBody = FromSchema<typeof modelChangeSchema>

export const timelineSchema = object(
  {
    data: { type: 'array', items: timelineEntrySchema },
    pagination: paginationSchema,
    unknown_versions: unknownVersionsSchema,
    model_changes: {
      type: 'array',
      items: modelChangeSchema,
      description: 'Only with `model_changes`: the newest 100, in the order of time',
    },
  },
  {
    optional: ['model_changes'],
    shared: ['data', 'pagination', 'unknown_versions', 'model_changes'],
    description: 'One page of entries, newest first',
    examples: [
      {
        data: [timelineEntryExample],
        pagination: paginationExample(1),
        unknown_versions: unknownVersionsExample,
      },
    ],
  },
)

const timelineQuerySchema = {
  action: {
    type: 'string',
    description: `Only these actions: one or more of ${actions.join(', ')}, separated by commas`,
    examples: ['deployed,pr_merged'],
  },
  ...periodQuerySchema,
  pulls: {
    enum: pullEntries,
    default: 'all',
    description:
      '`outcome`: one row for each pull request that was merged or closed, without its opening, which is in `pull`. Filters ' +
      'select from these rows',
  },
  model_changes: {
    enum: ['true'],
    description: 'Adds the changes of the model that serves the prompt',
  },
  as_of: asOfSchema,
  ...pageQuerySchema,
} as const

export type EffectBody = FromSchema<(typeof timelineEntrySchema)['properties']['impact']['anyOf'][0]>

export type LiveWindowBody = FromSchema<typeof liveWindowSchema>

export type UnknownVersionsBody = FromSchema<typeof unknownVersionsSchema>

export type TimelineEntryBody = FromSchema<typeof timelineEntrySchema>

export const timelineColumns = [
  'entry_id',
  'created_at',
  'action',
  'author',
  'author_email',
  'actor',
  'message',
  'path',
  'commit_sha',
  'branch_name',
  'pr_number',
  'pr_url',
  'live_from',
  'live_until',
  'live_source',
  'before_positive',
  'before_negative',
  'before_rate',
  'after_positive',
  'after_negative',
  'after_rate',
  'difference',
  'interval_low',
  'interval_high',
  'effective_signals',
  'verdict',
  'explanation',
] as const

const { page: _page, limit: _limit, model_changes: _models, ...filters } = timelineQuerySchema

const timelineExportQuerySchema = {
  format: { enum: exportFormats, default: 'ndjson', description: 'One JSON object per line, or CSV' },
  ...filters,
} as const

const [example] = timelineSchema.examples[0].data

/** The export formats, each with one change as an example. */
const timelineExportSchemas = {
  'application/x-ndjson': {
    type: 'string',
    description: 'One change per line, in the same format as in the timeline',
    examples: [`${JSON.stringify(example)}\n`],
  },
  'text/csv': {
    type: 'string',
    description: 'One change per line. The columns of the impact are empty if it did not go live',
    examples: [
      `${timelineColumns.join()}\r\n8842,2026-11-14T16:05:00.000Z,pr_merged,Ada Lovelace,ada@example.com,ada,Answer in the language ` +
        'of the question (#42),prompts/support.md,a1b2c3d4e5f60718293a4b5c6d7e8f9012345678,main,42,' +
        'https://github.com/acme/prompts/pull/42,2026-11-14T16:05:00.000Z,,merge,850,150,0.85,750,250,0.75,-0.1,-0.1378,' +
        '-0.0619,1706,worse,75% of 1000 votes are positive after this change\r\n',
    ],
  },
} as const

// After the change of the examples.
const asOf = { ...asOfSchema, examples: ['2026-11-15T00:00:00.000Z'] } as const

export const invalidAction = `action must be one or more of ${actions.join(', ')}, separated by commas`

export const operations = defineOperations('Impact', {
  exportTimeline: {
    method: 'GET',
    path: '/api/v1/prompts/:prompt_id/timeline/export',
    client: 'timeline.export',
    summary: 'Export the timeline',
    description:
      'The whole history with its figures in one streamed response, newest first, with the same filters as the timeline. The CSV ' +
      'format is safe to open in a spreadsheet.',
    roles: readerRoles,
    params: promptParamsSchema,
    query: timelineExportQuerySchema,
    response: {
      200: {
        description: 'A file',
        content: Object.fromEntries(Object.entries(timelineExportSchemas).map(([type, schema]) => [type, { schema }])),
      },
      422: invalidTimeSchema('since'),
    },
  },

  listImpact: {
    method: 'GET',
    path: '/api/v1/prompts/:prompt_id/impact',
    client: 'impact.list',
    summary: 'Get the impact of each change',
    description:
      'For each change that went live, newest first: the signals before and after, the difference between them, and a ' +
      'verdict on whether the change explains the difference.',
    roles: readerRoles,
    params: promptParamsSchema,
    query: { as_of: asOfSchema, by: bySchema, ...pageQuerySchema },
    response: { 200: impactSchema, 422: invalidTimeSchema('as_of') },
  },

  getTimelineEntry: {
    method: 'GET',
    path: '/api/v1/prompts/:prompt_id/timeline/:entry_id',
    client: 'timeline.get',
    summary: 'Get an entry of the timeline',
    description: 'One change of any age, with everything known about it, and its impact if it went live.',
    roles: readerRoles,
    shared: 'always',
    params: entryParamsSchema,
    query: { as_of: asOf, by: entryBySchema },
    response: { 200: timelineEntryResponseSchema, 422: invalidTimeSchema('as_of') },
  },

  listTimeline: {
    method: 'GET',
    path: '/api/v1/prompts/:prompt_id/timeline',
    client: 'timeline.list',
    summary: 'Get the timeline',
    description:
      'The history, newest first, with everything known about each change, and the impact of those that went live.',
    roles: readerRoles,
    shared: 'always',
    params: promptParamsSchema,
    query: timelineQuerySchema,
    response: { 200: timelineSchema, 422: invalidSchema(invalidAction) },
  },
})
