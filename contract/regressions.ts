import type { FromSchema } from 'json-schema-to-ts'
import { readerRoles } from '../server/src/domain/access/api-key.ts'
import { channels } from '../server/src/domain/alerts/alert.ts'
import { alertDeliveryStates } from '../server/src/domain/alerts/delivery.ts'
import { deliveryEvents } from '../server/src/domain/alerts/event.ts'
import { regressionSorts, regressionStates, repairs } from '../server/src/domain/regressions/regression.ts'
import { triageActions } from '../server/src/domain/triage.ts'
import { destinationSchema } from './alerts.ts'
import { historyEntryExample, historyEntrySchema } from './history.ts'
import { defineOperations } from './operation.ts'
import { promptId, promptIdExample, promptParamsSchema } from './prompt-id.ts'
import { newProposalSchema, proposalExample, proposalProblemSchema, proposalSchema } from './proposals.ts'
import { conflictSchema, invalidSchema, list, object, one, pageQuerySchema, pair, time, timeOrNull } from './schema.ts'

/** The prompt that an item of a list for the whole organisation belongs to. */
export const promptNameSchema = object(
  {
    id: { type: 'string', description: 'The public ID (prefix pmt_)' },
    name: { type: 'string' },
  },
  { shared: ['id'], verbatim: ['name'] },
)

/** Of these, what a share link shows: neither who decided, nor why. */
export const sharedTriage = ['dismissed_at', 'acknowledged_at', 'snoozed_until'] as const

/** What people decided about a regression or a shift. */
export const triagedFields = {
  dismissed_at: timeOrNull,
  dismissed_by: { type: ['string', 'null'], description: 'The name of the key that dismissed it' },
  note: { type: ['string', 'null'], description: 'Why it was dismissed' },
  owner: { type: ['string', 'null'] },
  acknowledged_at: { ...timeOrNull, description: 'When a person took it on. Alerts about it are not repeated since' },
  acknowledged_by: { type: ['string', 'null'], description: 'The name of the key that acknowledged it' },
  snoozed_until: { ...timeOrNull, description: 'Until when alerts about it are not repeated' },
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
  interval: pair({ type: 'number' }, '95% confidence range of the true difference'),
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
  ...triagedFields,
  owner: {
    type: ['string', 'null'],
    description:
      'The email address of the person who takes care of it: by default the author of the change. Null if that is no address',
  },
} as const

const sharedFields = [
  'id',
  'prompt',
  'state',
  'change',
  'opened_at',
  'live_from',
  'rate_before',
  'rate_after',
  'signals_before',
  'signals_after',
  'difference',
  'interval',
  'explanation',
  'repaired_at',
  'repaired_by',
  'repaired_entry',
  'withdrawn_at',
  ...sharedTriage,
] as const

export const regressionSchema = object(fields, {
  shared: sharedFields,
  title: 'Regression',
  description: 'A change that made a prompt worse',
})

/** An example of something that no one has taken care of. */
export const untriaged = {
  dismissed_at: null,
  dismissed_by: null,
  note: null,
  owner: null,
  acknowledged_at: null,
  acknowledged_by: null,
  snoozed_until: null,
} as const

const regressionExample = {
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
  ...untriaged,
  owner: 'ada@example.com',
} as const

const told = object({
  event: { enum: deliveryEvents },
  destination: destinationSchema,
  alert: {
    anyOf: [object({ name: { type: 'string' }, channel: { enum: channels } }), { type: 'null' }],
    description: 'Null for a comment on the pull request, and if the alert was removed',
  },
  state: { enum: alertDeliveryStates },
  created_at: time,
  finished_at: { ...timeOrNull, description: 'When it was sent, or given up' },
})

const triageStep = object(
  {
    at: time,
    by: { type: ['string', 'null'], description: 'The name of the key' },
    action: {
      enum: triageActions,
      description: '`awake` ends a snooze',
    },
    text: { type: ['string', 'null'], description: 'The comment, the new owner, or until when' },
  },
  { title: 'TriageStep', description: 'What a person did about a regression or a shift' },
)

export const triageSteps = {
  type: 'array',
  items: triageStep,
  description: 'What people did and said about it, the oldest first',
} as const

export const triageSchema = {
  title: 'Triage',
  description: 'What to do about an open regression or shift',
  type: 'object',
  minProperties: 1,
  properties: {
    owner: {
      type: ['string', 'null'],
      description: 'The email address of who takes care of it. Null for the author of the change',
    },
    acknowledged: { type: 'boolean', description: 'True stops repeated alerts about it' },
    snoozed_until: { ...timeOrNull, description: 'Stops repeated alerts until then, within a year. Null ends it' },
    comment: { type: 'string', minLength: 1, maxLength: 2_000 },
  },
  examples: [{ acknowledged: true, comment: 'Looking into it.' }],
} as const

const regressionDetails = object(
  {
    ...regressionSchema.properties,
    certain_enough: {
      type: 'boolean',
      description: 'Whether it is certain enough to tell people, which needs more than the verdict `worse`',
    },
    proposal: {
      anyOf: [proposalSchema, { type: 'null' }],
      description: 'The last pull request that takes the change back; null if none was proposed',
    },
    steps: triageSteps,
    told: {
      type: 'array',
      items: told,
      description: 'What was sent about it to alerts and the pull request, newest first',
    },
  },
  {
    title: 'RegressionDetails',
    description: 'A regression, and who was told about it',
    shared: [...sharedFields, 'certain_enough'],
  },
)

const regressionDetailsSchema = one(regressionDetails, 'The regression', {
  ...regressionExample,
  certain_enough: true,
  proposal: null,
  steps: [{ at: '2026-11-15T08:00:00.000Z', by: 'Ada', action: 'comment', text: 'Looking into it.' }],
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
})

export const regressionPageSchema = list(regressionSchema, 'One page of regressions', [regressionExample])

const oneRegressionSchema = one(regressionSchema, 'The regression', {
  ...regressionExample,
  state: 'dismissed',
  dismissed_at: '2026-11-15T09:00:00.000Z',
  dismissed_by: 'Ada',
  note: 'We accept it: answers are shorter on purpose.',
})

/** Each sort key, and the same key prefixed with `-` for descending order. */
export const regressionSortValues = regressionSorts.flatMap((sort) => [sort, `-${sort}` as const])

export const regressionQuerySchema = {
  state: { type: 'string', enum: regressionStates, description: 'Only regressions in this state' },
  sort: {
    type: 'string',
    enum: regressionSortValues,
    default: '-opened_at',
    description: 'Prefix with `-` for descending order. `difference`: the largest loss first',
  },
  owner: { type: 'string', description: 'Only those of this email address, in any case' },
  ...pageQuerySchema,
} as const

const regressionParamsSchema = {
  prompt_id: promptId,
  regression_id: { type: 'integer', description: 'The ID of the regression', examples: [regressionExample.id] },
} as const

export const dismissalSchema = {
  title: 'Dismissal',
  description: 'Why a regression or a shift is dismissed',
  type: 'object',
  required: ['note'],
  properties: { note: { type: 'string', minLength: 1, maxLength: 2_000, description: 'Shown with it' } },
  examples: [{ note: 'We accept it: answers are shorter on purpose.' }],
} as const

export type RegressionDetailsBody = FromSchema<typeof regressionDetails>

export type RegressionBody = FromSchema<typeof regressionSchema>

export type TriageBody = FromSchema<typeof triageSchema>

export type DismissalBody = FromSchema<typeof dismissalSchema>

const invalidState = invalidSchema(`state must be one of ${regressionStates.join(', ')}`)

export const alreadyClosed = 'The regression is already repaired or withdrawn, so there is nothing to dismiss.'

export const notOpen = 'The regression is not open any more, so there is nothing to take care of.'

export const operations = defineOperations('Regressions', {
  listRegressions: {
    method: 'GET',
    path: '/api/v1/regressions',
    client: 'regressions.list',
    summary: 'List the regressions of all prompts',
    description:
      'A change whose verdict is `worse` opens a regression. It stays open, whatever ships next, until the rate is back, ' +
      'the change is reverted, the verdict is taken back, or it is dismissed. The last opened comes first, unless `sort` says otherwise.',
    roles: readerRoles,
    query: regressionQuerySchema,
    response: { 200: regressionPageSchema, 422: invalidState },
  },

  listPromptRegressions: {
    method: 'GET',
    path: '/api/v1/prompts/:prompt_id/regressions',
    client: 'regressions.listOfPrompt',
    summary: 'List the regressions of a prompt',
    description: 'The last opened comes first.',
    roles: readerRoles,
    shared: 'always',
    params: promptParamsSchema,
    query: regressionQuerySchema,
    response: { 200: regressionPageSchema, 422: invalidState },
  },

  getRegression: {
    method: 'GET',
    path: '/api/v1/prompts/:prompt_id/regressions/:regression_id',
    client: 'regressions.get',
    summary: 'Get a regression',
    description: 'With what alerts and the pull request were told about it.',
    roles: readerRoles,
    shared: 'always',
    params: regressionParamsSchema,
    response: { 200: regressionDetailsSchema },
  },

  updateRegression: {
    method: 'PATCH',
    path: '/api/v1/prompts/:prompt_id/regressions/:regression_id',
    client: 'regressions.update',
    needsBody: true,
    summary: 'Take care of a regression',
    description: 'Sets who takes care of an open regression, acknowledges or snoozes it, and adds a comment.',
    roles: ['standard', 'deploy', 'admin'],
    params: regressionParamsSchema,
    body: triageSchema,
    response: {
      200: one(regressionSchema, 'The regression', {
        ...regressionExample,
        acknowledged_at: '2026-11-15T08:00:00.000Z',
        acknowledged_by: 'Ada',
      }),
      409: conflictSchema(notOpen),
      422: invalidSchema('owner must be an email address'),
    },
  },

  dismissRegression: {
    method: 'POST',
    path: '/api/v1/prompts/:prompt_id/regressions/:regression_id/dismiss',
    client: 'regressions.dismiss',
    idempotent: true,
    summary: 'Dismiss a regression',
    description:
      'For a loss that you accept. The same change does not open a regression again. If it is dismissed already, the ' +
      'response is the regression as it is.',
    roles: ['standard', 'admin'],
    params: regressionParamsSchema,
    body: dismissalSchema,
    response: {
      200: oneRegressionSchema,
      409: conflictSchema(alreadyClosed),
      422: invalidSchema('note is required'),
    },
  },

  proposeRevert: {
    method: 'POST',
    path: '/api/v1/prompts/:prompt_id/regressions/:regression_id/proposals',
    client: 'regressions.propose',
    idempotent: true,
    timeoutMs: 120_000,
    summary: 'Propose to take the change back',
    description:
      'Opens a pull request that takes back the change of an open regression, with its figures as evidence, and asks its author and reviewers. ' +
      'Never merges it. A regression has one open proposal: while it is open, the response is that one.',
    roles: ['standard', 'deploy', 'admin'],
    params: regressionParamsSchema,
    body: newProposalSchema,
    response: {
      200: one(proposalSchema, 'The pull request that is open now', proposalExample),
      409: proposalProblemSchema,
      422: invalidSchema('mode must be "revert" or "restore"'),
    },
  },
})
