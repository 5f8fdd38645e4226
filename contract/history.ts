import type { FromSchema } from 'json-schema-to-ts'
import { deliveryRoles, readerRoles } from '../server/src/domain/access/api-key.ts'
import { hiddenKinds } from '../server/src/domain/hidden-text.ts'
import { actions } from '../server/src/domain/history/entry.ts'
import { liveSources } from '../server/src/domain/impact/live/live-window.ts'
import { blameStates, textStates } from '../server/src/domain/repositories/repository-service.ts'
import { trialStates } from '../server/src/domain/trials/trial.ts'
import { defineOperations, shared, verbatim } from './operation.ts'
import { promptId, promptIdExample, promptParamsSchema } from './prompt-id.ts'
import { invalidSchema, invalidTimeSchema, list, object, one, pageQuerySchema, textOrNull } from './schema.ts'

const status = {
  present: { type: 'boolean', description: "Whether the prompt's text contains hidden characters after the change" },
  added: { type: 'boolean', description: 'Whether this change added some of them' },
} as const

export const hiddenStatusSchema = {
  anyOf: [object(status, { shared: ['present', 'added'] }), { type: 'null' }],
  description:
    'Hidden characters, such as bidirectional controls and Unicode tags; null if the text has not been checked or is unavailable',
} as const

const kind = { enum: hiddenKinds } as const

export const hiddenCharactersSchema = {
  anyOf: [
    object(
      {
        ...status,
        count: { type: 'integer', description: 'Hidden characters in the text after the change' },
        added_count: { type: 'integer', description: 'How many of them this change added' },
        kinds: {
          type: 'array',
          description: 'The same by kind',
          items: object(
            { kind, count: { type: 'integer' }, added_count: { type: 'integer' } },
            { shared: ['kind', 'count', 'added_count'] },
          ),
        },
        positions: {
          type: 'array',
          description: 'Up to 100 runs of hidden characters in the text after the change',
          items: object(
            {
              line: { type: 'integer', description: 'From 1' },
              column: { type: 'integer', description: 'From 1, in characters' },
              kind,
              length: { type: 'integer', description: 'Number of adjacent hidden characters' },
              label: { type: 'string', description: 'Such as `U+202E RLO`, or the text that Unicode tags spell' },
              added: { type: 'boolean', description: 'Whether this change added them' },
            },
            { shared: ['line', 'column', 'kind', 'length', 'added'], verbatim: ['label'] },
          ),
        },
      },
      { shared: ['present', 'added', 'count', 'added_count', 'kinds', 'positions'] },
    ),
    { type: 'null' },
  ],
  description: "Hidden characters in the prompt's text; null if the text is unavailable or a text exceeds 2 MiB",
} as const

const fields = {
  action: {
    enum: actions,
    description: '`deployed`: committed directly to the default branch. `pr_closed`: closed without a merge',
  },
  user: {
    type: 'object',
    description: 'The author of the change',
    required: ['name', 'email'],
    properties: { name: { type: 'string' }, email: { type: 'string' } },
    [shared]: ['name'],
  },
  commit_sha: { type: 'string', description: 'Commit hash of the change' },
  pr_number: { type: ['integer', 'null'], description: 'Null when no pull request is involved' },
  pr_url: { type: ['string', 'null'], description: 'Null when no pull request is involved' },
  branch_name: { type: 'string', description: 'Name of the branch the change went to' },
  created_at: { type: 'string', format: 'date-time', description: 'ISO 8601 UTC timestamp' },
} as const

const fieldNames = [
  'action',
  'user',
  'commit_sha',
  'pr_number',
  'pr_url',
  'branch_name',
  'created_at',
] as const satisfies (keyof typeof fields)[]

const mergedExample = {
  action: 'pr_merged',
  user: { name: 'Ada Lovelace', email: 'ada@example.com' },
  commit_sha: '8f3a1c5e7b9d2f4a6c8e0b1d3f5a7c9e1b3d5f7a',
  pr_number: 42,
  pr_url: 'https://github.com/acme/prompts/pull/42',
  branch_name: 'main',
  created_at: '2026-11-14T16:05:00.000Z',
} as const

export const historyEntryExample = { id: 1042, ...mergedExample } as const

export const newHistoryEntrySchema = {
  title: 'NewHistoryEntry',
  description: 'A change of a prompt that another system made',
  type: 'object',
  required: fieldNames,
  properties: fields,
  examples: [mergedExample],
} as const

export const historyEntrySchema = object(
  { id: { type: 'integer', description: 'Identifier of the history entry' }, ...fields },
  {
    title: 'HistoryEntry',
    description: 'A recorded change of a prompt',
    shared: ['id', ...fieldNames],
  },
)

export const historyPageSchema = list(historyEntrySchema, 'One page of entries, newest first', [
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
])

const textStateSchema = {
  enum: textStates,
  description:
    '`absent`: the file did not exist. `too_large`: the texts exceed 16 MiB together. `unavailable`: git does not have it, or ' +
    'the entry does not come from git',
} as const

export const trialOfChangeSchema = {
  anyOf: [
    object(
      {
        id: { type: 'string', description: 'The public ID (prefix trl_)' },
        state: { enum: trialStates },
        verdict: { enum: ['better', 'worse', null] },
      },
      {
        title: 'TrialOfChange',
        description: 'The trial that a change had before it was merged',
        shared: ['id', 'state', 'verdict'],
      },
    ),
    { type: 'null' },
  ],
  description: 'The last trial of this commit or pull request, whose verdict is randomised; null without one',
} as const

const details = {
  message: { ...textOrNull, description: 'The commit message, or the title of the pull request' },
  actor: { ...textOrNull, description: 'The forge user who pushed, opened, merged or closed it' },
  path: { ...textOrNull, description: "Path of the prompt's file at that time" },
  too_large: {
    type: 'boolean',
    description:
      'Whether the commit or pull request exceeds the limits of a sync: some of its files are not recorded, or its ' +
      'message is cut',
  },
  before: {
    ...textOrNull,
    description: "The prompt's text before the change; `before_state` says why it is null",
  },
  after: {
    ...textOrNull,
    description: "The prompt's text after the change; `after_state` says why it is null",
  },
  before_state: textStateSchema,
  after_state: textStateSchema,
  patch: { ...textOrNull, description: 'Unified diff between the two; null if a text is unavailable, or over 4 MiB' },
  key_id: {
    type: ['integer', 'null'],
    description: 'The key that recorded the entry through the API; null for entries from git, the CLI or an import',
  },
  hidden_characters: hiddenCharactersSchema,
  trial: trialOfChangeSchema,
} as const

export const entryDetailsSchema = one(
  {
    ...historyEntrySchema,
    title: 'HistoryEntryDetails',
    description: 'A recorded change of a prompt, with its details and texts. Details are null if they are not known',
    required: [
      ...historyEntrySchema.required,
      'message',
      'actor',
      'path',
      'too_large',
      'before',
      'after',
      'before_state',
      'after_state',
      'patch',
      'hidden_characters',
      'key_id',
      'trial',
    ],
    properties: { ...historyEntrySchema.properties, ...details },
    [shared]: [
      'id',
      ...fieldNames,
      'message',
      'actor',
      'too_large',
      'before_state',
      'after_state',
      'hidden_characters',
      'trial',
    ],
    [verbatim]: ['path', 'before', 'after', 'patch'],
  },
  'The entry',
  {
    ...historyEntryExample,
    message: 'Answer in the language of the question (#42)',
    actor: 'ada',
    path: 'prompts/support.md',
    too_large: false,
    before: 'You answer customers.\n',
    after: 'You answer customers in their language.\n',
    before_state: 'available',
    after_state: 'available',
    patch: '@@ -1 +1 @@\n-You answer customers.\n+You answer customers in their language.\n',
    key_id: null,
    hidden_characters: { present: false, added: false, count: 0, added_count: 0, kinds: [], positions: [] },
    trial: { id: 'trl_7Kd2mXqLr5Tz1NvB8cWf3HyJ', state: 'ended', verdict: 'better' },
  },
)

export const recordedEntrySchema = one(historyEntrySchema, 'The recorded entry', historyEntryExample)

export const entryParamsSchema = {
  prompt_id: promptId,
  entry_id: { type: 'integer', description: 'The ID of the entry', examples: [historyEntryExample.id] },
} as const

const foundEntryParamsSchema = { entry_id: entryParamsSchema.entry_id } as const

export const foundEntrySchema = one(
  object(
    {
      prompt: object({ id: { type: 'string' }, name: { type: 'string' } }),
      entry: historyEntrySchema,
    },
    { title: 'FoundEntry', description: 'A history entry, and its prompt' },
  ),
  'The entry',
  { prompt: { id: promptIdExample, name: 'Support answers' }, entry: historyEntryExample },
)

export type HistoryEntryBody = FromSchema<typeof historyEntrySchema>

export type NewHistoryEntryBody = FromSchema<typeof newHistoryEntrySchema>

const rangeSchema = object(
  {
    start: { type: 'integer', description: 'The first line, from 1' },
    end: { type: 'integer', description: 'The last line' },
    entry_id: {
      type: ['integer', 'null'],
      description:
        'The entry in `entries`. Null if no entry of the prompt has the commit: it is older than the known history, or is from before ' +
        'the file became a prompt',
    },
    commit_sha: { type: 'string', description: 'The commit on the default branch' },
  },
  { title: 'BlamedLines', description: 'Lines of a text that the same change brought' },
)

export const blameSchema = one(
  object(
    {
      entry: historyEntrySchema,
      path: { ...textOrNull, description: "Path of the prompt's file at that time" },
      state: {
        enum: blameStates,
        description:
          '`absent`: the change deleted the file. `too_large`: over 1 MiB or 20,000 lines, or git takes too long. `binary`: not a ' +
          'text. `not_landed`: the change is not on the default branch. `unavailable`: git does not have it, or the entry does ' +
          'not come from git',
      },
      content: { ...textOrNull, description: "The prompt's text; null unless `state` is `available`" },
      lines: { type: 'array', items: rangeSchema, description: 'In order, without gaps; empty unless `available`' },
      entries: {
        type: 'array',
        description: 'The changes that brought the lines, newest first',
        items: object({
          entry: historyEntrySchema,
          message: { ...textOrNull, description: 'The commit message, up to its first 1,000 characters' },
          actor: { ...textOrNull, description: 'The forge user who pushed or merged it' },
        }),
      },
    },
    { title: 'Blame', description: 'The text of a version, and which change brought each of its lines' },
  ),
  'The text with its changes',
  {
    entry: historyEntryExample,
    path: 'prompts/support.md',
    state: 'available',
    content: 'You answer customers in their language.\n',
    lines: [{ start: 1, end: 1, entry_id: historyEntryExample.id, commit_sha: historyEntryExample.commit_sha }],
    entries: [{ entry: historyEntryExample, message: 'Answer in the language of the question (#42)', actor: 'ada' }],
  },
)

const blameQuerySchema = {
  entry: { type: 'integer', description: 'The ID of a history entry. Defaults to the live version' },
} as const

const liveEnvironmentSchema = object(
  {
    environment: { type: 'string' },
    production: { type: 'boolean', description: 'Whether it decides what is live' },
    since: { type: 'string', format: 'date-time', description: 'Its last deployment that changed something' },
    versions: {
      type: 'array',
      description: 'The largest share first. Empty if its deployment ended',
      items: object({
        entry: {
          anyOf: [historyEntrySchema, { type: 'null' }],
          description: 'Null if it is not known, or not yet, which version the commit has',
        },
        commit_sha: {
          ...textOrNull,
          description: 'The deployed commit; null for what was merged before a first canary',
        },
        share: { type: 'number', description: 'The part of the traffic of this environment' },
      }),
    },
  },
  { title: 'LiveEnvironment', description: 'The versions of a prompt that run in an environment' },
)

export const liveSchema = one(
  object({
    entry: { anyOf: [historyEntrySchema, { type: 'null' }], description: 'The change; null if it is unknown' },
    path: details.path,
    content: { ...textOrNull, description: "The prompt's text at that time; `content_state` says why it is null" },
    content_state: textStateSchema,
    incomplete: {
      type: 'boolean',
      description: 'Whether the change is unknown because the repository is a shallow clone',
    },
    live_source: {
      enum: [...liveSources, null],
      description: 'Whether a deployment to production or the merge made it live; null if the change is unknown',
    },
    environment: { ...textOrNull, description: 'Where it was deployed to; null for a merge' },
    share: { type: 'number', description: 'The part of the traffic that it served' },
    also_live: {
      type: 'array',
      description: 'Other versions that were live at that time, the largest share first',
      items: object({
        entry: historyEntrySchema,
        share: { type: 'number' },
        environment: textOrNull,
      }),
    },
    environments: {
      type: 'array',
      description:
        'What ran in each environment by its deployments: production first, then the last changed, up to 20. Empty without deployments',
      items: liveEnvironmentSchema,
    },
  }),
  'The change that was live',
  {
    entry: historyEntryExample,
    path: 'prompts/support.md',
    content: 'You answer customers in their language.\n',
    content_state: 'available',
    incomplete: false,
    live_source: 'merge',
    environment: null,
    share: 1,
    also_live: [],
    environments: [],
  },
)

const liveQuerySchema = {
  at: {
    type: 'string',
    format: 'date-time',
    description: 'Defaults to now',
    examples: ['2026-11-15T09:30:00.000Z'],
  },
} as const

export const operations = defineOperations('History', {
  getBlame: {
    method: 'GET',
    path: '/api/v1/prompts/:prompt_id/blame',
    client: 'versions.blame',
    summary: 'Get the change that brought each line',
    description:
      "The prompt's text after a change, and for each line the last change of the default branch that brought it, by `git blame`. The " +
      'lines of a pull request belong to its merge. Follows renames. 404 if the entry is unknown, or if no version is live.',
    roles: readerRoles,
    params: promptParamsSchema,
    query: blameQuerySchema,
    response: { 200: blameSchema },
  },

  recordHistory: {
    method: 'POST',
    path: '/api/v1/prompts/:prompt_id/history',
    client: 'history.record',
    idempotent: true,
    summary: 'Record a history entry',
    description:
      'For changes made in another system. If an entry with the same values in every field exists, that entry ' +
      'is returned and nothing is added.',
    roles: ['recorder', 'admin'],
    params: promptParamsSchema,
    body: newHistoryEntrySchema,
    response: { 201: recordedEntrySchema, 422: invalidSchema('action is required') },
  },

  getHistoryEntry: {
    method: 'GET',
    path: '/api/v1/prompts/:prompt_id/history/:entry_id',
    client: 'history.get',
    summary: 'Get a history entry',
    description:
      "An entry with its commit message, its actor and the prompt's text before and after. These fields are null " +
      'if unknown, for example for entries that do not come from git. Texts are returned up to 16 MiB together.',
    roles: readerRoles,
    shared: 'always',
    params: entryParamsSchema,
    response: { 200: entryDetailsSchema },
  },

  findHistoryEntry: {
    method: 'GET',
    path: '/api/v1/history/:entry_id',
    client: 'history.find',
    summary: 'Find a history entry',
    description: 'An entry by its ID alone, with the prompt that it belongs to.',
    roles: readerRoles,
    params: foundEntryParamsSchema,
    response: { 200: foundEntrySchema },
  },

  listHistory: {
    method: 'GET',
    path: '/api/v1/prompts/:prompt_id/history',
    client: 'history.list',
    summary: 'Get prompt history',
    description:
      'The recorded changes of a prompt, newest first by `created_at`, then `id`. A page past the end is empty and has ' +
      'the correct totals.',
    roles: deliveryRoles,
    light: true,
    params: promptParamsSchema,
    query: pageQuerySchema,
    response: { 200: historyPageSchema },
  },

  getLive: {
    method: 'GET',
    path: '/api/v1/prompts/:prompt_id/live',
    client: 'history.live',
    summary: 'Get the live version',
    description:
      "The change that was live at a given time, with the prompt's text. 404 before the first change. If the repository is a " +
      'shallow clone, older changes are unknown: then `incomplete` is true before the first known one, `entry` is null, and ' +
      "`content` is the prompt's text at the start of the known history. By the deployments to production, if there are any, and " +
      'otherwise by the merges: see `live_source`. If several versions were live, the one with the largest share is returned, and ' +
      'the others are in `also_live`. `environments` has what ran in every environment.',
    roles: readerRoles,
    params: promptParamsSchema,
    query: liveQuerySchema,
    response: { 200: liveSchema, 422: invalidTimeSchema('at') },
  },
})
